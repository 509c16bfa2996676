package shop;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.beans.XMLDecoder;
import java.io.FileInputStream;
import java.io.InputStream;
import java.io.ObjectInputStream;
import javax.servlet.http.HttpServletRequest;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.stream.XMLInputFactory;
import org.w3c.dom.Document;

class Importer {
    private final ObjectMapper mapper = new ObjectMapper();

    Object receive(HttpServletRequest request) throws Exception {
        // ok: swarmgate.java.untrusted-deserialisation
        mapper.readValue(request.getInputStream(), Cart.class);
        // ruleid: swarmgate.java.untrusted-deserialisation
        ObjectInputStream input = new ObjectInputStream(request.getInputStream());
        return input.readObject();
    }

    Object restore() throws Exception {
        // ok: swarmgate.java.untrusted-deserialisation
        return new ObjectInputStream(new FileInputStream("cache.bin")).readObject();
    }

    Object settings(InputStream input) {
        // ok: swarmgate.java.xml-decoder
        new java.beans.XMLEncoder(System.out).flush();
        // ruleid: swarmgate.java.xml-decoder
        return new XMLDecoder(input).readObject();
    }

    void typing(ObjectMapper loose) {
        // ruleid: swarmgate.java.polymorphic-json
        loose.enableDefaultTyping();
        // ok: swarmgate.java.polymorphic-json
        mapper.activateDefaultTyping(CartTypes.validator(), ObjectMapper.DefaultTyping.NON_FINAL);
    }

    Document parse(InputStream input) throws Exception {
        // ruleid: swarmgate.java.xxe-parser
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setNamespaceAware(true);
        return factory.newDocumentBuilder().parse(input);
    }

    Document parseSafely(InputStream input) throws Exception {
        // ok: swarmgate.java.xxe-parser
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
        factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
        return factory.newDocumentBuilder().parse(input);
    }

    Object stream(InputStream input) throws Exception {
        // ruleid: swarmgate.java.xxe-stax
        XMLInputFactory factory = XMLInputFactory.newInstance();
        return factory.createXMLStreamReader(input);
    }

    Object streamSafely(InputStream input) throws Exception {
        // ok: swarmgate.java.xxe-stax
        XMLInputFactory factory = XMLInputFactory.newInstance();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        return factory.createXMLStreamReader(input);
    }
}
