package shop;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import javax.naming.directory.DirContext;
import javax.naming.directory.SearchControls;
import javax.script.ScriptEngine;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import javax.xml.xpath.XPath;
import org.apache.commons.io.FilenameUtils;
import org.owasp.encoder.Encode;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.ldap.support.LdapEncoder;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.client.RestTemplate;

class OrderServlet extends HttpServlet {
    private static final String TABLE = "orders";
    private Connection connection;
    private Path uploads;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String id = request.getParameter("id");
        try (Statement statement = connection.createStatement()) {
            String sql = "SELECT total FROM orders WHERE id = '" + id + "'";
            // ruleid: swarmgate.java.sql-injection
            ResultSet rows = statement.executeQuery(sql);
            int number = Integer.parseInt(id);
            // ok: swarmgate.java.sql-injection
            statement.executeUpdate("UPDATE seen SET n = 1");
            String counted = "SELECT total FROM orders WHERE id = " + number;
            // ok: swarmgate.java.sql-injection
            rows = statement.executeQuery(counted);
        }
        // ok: swarmgate.java.sql-injection, swarmgate.java.sql-concatenation
        try (PreparedStatement safe = connection.prepareStatement("SELECT total FROM " + TABLE + " WHERE id = ?")) {
            safe.setString(1, id);
        }
    }

    ResultSet byTenant(Statement statement, String tenant) throws Exception {
        // ruleid: swarmgate.java.sql-concatenation
        statement.executeUpdate(String.format("DELETE FROM carts WHERE tenant = '%s'", tenant));
        // ruleid: swarmgate.java.sql-concatenation
        return statement.executeQuery("SELECT total FROM orders WHERE tenant = '" + tenant + "'");
    }

    void convert(HttpServletRequest request) throws IOException {
        String format = request.getParameter("format");
        // ruleid: swarmgate.java.command-injection
        Runtime.getRuntime().exec("convert in.png out." + format);
        // ruleid: swarmgate.java.command-injection
        new ProcessBuilder("sh", "-c", "convert in.png out." + format).start();
        // ok: swarmgate.java.command-injection
        new ProcessBuilder("convert", "in.png", "out.png").start();
    }

    void qualified(jakarta.servlet.http.HttpServletRequest asked) throws IOException {
        // ruleid: swarmgate.java.command-injection
        Runtime.getRuntime().exec("convert in.png out." + asked.getParameter("format"));
    }

    byte[] download(HttpServletRequest request) throws IOException {
        String name = request.getParameter("file");
        // ruleid: swarmgate.java.path-traversal
        File file = new File("/srv/uploads", name);
        // ok: swarmgate.java.path-traversal
        File flat = new File("/srv/uploads", FilenameUtils.getName(name));
        return Files.readAllBytes(flat.exists() ? flat.toPath() : file.toPath());
    }

    byte[] downloadChecked(HttpServletRequest request) throws IOException {
        String name = request.getParameter("file");
        // ok: swarmgate.java.path-traversal
        Path place = uploads.resolve(name).normalize();
        if (!place.startsWith(uploads)) {
            throw new IOException("outside of the folder");
        }
        return Files.readAllBytes(place);
    }

    void preview(HttpServletRequest request, RestTemplate rest) throws IOException {
        URL url = new URL(request.getParameter("url"));
        // ruleid: swarmgate.java.ssrf
        url.openStream();
        // ruleid: swarmgate.java.ssrf
        rest.getForObject("http://" + request.getParameter("host") + "/status", String.class);
        String term = URLEncoder.encode(request.getParameter("q"), StandardCharsets.UTF_8);
        // ok: swarmgate.java.ssrf
        rest.getForObject("https://search.internal/?q=" + term, String.class);
    }

    void login(HttpServletRequest request, HttpServletResponse response) throws IOException {
        // ruleid: swarmgate.java.open-redirect
        response.sendRedirect(request.getParameter("next"));
        // ok: swarmgate.java.open-redirect
        response.sendRedirect("/home");
    }

    void greet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String name = request.getParameter("name");
        // ruleid: swarmgate.java.response-write-unescaped
        response.getWriter().println("<h1>Hello " + name + "</h1>");
        // ok: swarmgate.java.response-write-unescaped
        response.getWriter().println("<h1>Hello " + Encode.forHtml(name) + "</h1>");
    }

    void person(HttpServletRequest request, DirContext directory, SearchControls controls) throws Exception {
        String user = request.getParameter("user");
        // ruleid: swarmgate.java.ldap-injection
        directory.search("ou=people", "(uid=" + user + ")", controls);
        // ok: swarmgate.java.ldap-injection
        directory.search("ou=people", "(uid=" + LdapEncoder.filterEncode(user) + ")", controls);
        // ok: swarmgate.java.ldap-injection
        directory.search("ou=people", "(uid={0})", new Object[] {user}, controls);
    }

    String price(HttpServletRequest request, XPath xpath, Object document) throws Exception {
        // ok: swarmgate.java.xpath-injection
        xpath.evaluate("//item[@name=$name]/price", document);
        // ruleid: swarmgate.java.xpath-injection
        return xpath.evaluate("//item[@name='" + request.getParameter("name") + "']/price", document);
    }

    Object compute(HttpServletRequest request, ScriptEngine engine) throws Exception {
        // ok: swarmgate.java.code-injection
        engine.eval("1 + 1");
        // ruleid: swarmgate.java.code-injection
        return engine.eval(request.getParameter("formula"));
    }
}

class OrderController {
    private JdbcTemplate jdbc;
    private Path uploads;

    @GetMapping("/orders")
    public int orders(@RequestParam("status") String status) {
        // ok: swarmgate.java.sql-injection
        jdbc.queryForObject("SELECT count(*) FROM orders WHERE status = ?", Integer.class, status);
        String sql = "SELECT count(*) FROM orders WHERE status = '" + status + "'";
        // ruleid: swarmgate.java.sql-injection
        return jdbc.queryForObject(sql, Integer.class);
    }

    @GetMapping("/orders/{id}")
    public void order(@PathVariable long id) {
        String sql = "SELECT * FROM orders WHERE id = " + id;
        // ok: swarmgate.java.sql-injection
        jdbc.queryForList(sql);
    }

    @GetMapping("/go")
    public String leave(@RequestParam String to) {
        // ruleid: swarmgate.java.open-redirect
        return "redirect:" + to;
    }

    @GetMapping("/files/{name}")
    public byte[] file(@PathVariable String name) throws IOException {
        // ruleid: swarmgate.java.path-traversal
        return Files.readAllBytes(uploads.resolve(name));
    }
}

class QualifiedOrders {
    java.sql.ResultSet byRequest(jakarta.servlet.http.HttpServletRequest request, java.sql.Connection connection)
            throws Exception {
        java.lang.String id = request.getParameter("id");
        // ruleid: swarmgate.java.sql-injection, swarmgate.java.sql-concatenation
        return connection.createStatement().executeQuery("SELECT total FROM orders WHERE id = '" + id + "'");
    }

    java.sql.ResultSet byParameter(
            @org.springframework.web.bind.annotation.RequestParam java.lang.String id, java.sql.Statement statement)
            throws Exception {
        // ruleid: swarmgate.java.sql-injection, swarmgate.java.sql-concatenation
        return statement.executeQuery("SELECT total FROM orders WHERE id = '" + id + "'");
    }

    java.sql.ResultSet byNumber(
            @org.springframework.web.bind.annotation.RequestParam java.lang.Long id, java.sql.Statement statement)
            throws Exception {
        // ok: swarmgate.java.sql-injection
        return statement.executeQuery(Queries.of(id));
    }
}
