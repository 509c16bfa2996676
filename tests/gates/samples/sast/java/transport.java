package shop;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.X509TrustManager;
import javax.servlet.http.Cookie;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;

class TrustAll implements X509TrustManager {
    // ruleid: swarmgate.java.trust-all-certificates
    public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
    }
}

class Pinned implements X509TrustManager {
    // ok: swarmgate.java.trust-all-certificates
    public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
        delegate.checkServerTrusted(chain, type);
    }
}

class Client {
    void open(HttpsURLConnection connection) throws Exception {
        // ruleid: swarmgate.java.hostname-not-verified
        connection.setHostnameVerifier((host, session) -> true);
        // ok: swarmgate.java.hostname-not-verified
        connection.setHostnameVerifier((host, session) -> host.equals(session.getPeerHost()));
        // ruleid: swarmgate.java.old-tls
        SSLContext.getInstance("TLSv1.1");
        // ok: swarmgate.java.old-tls
        SSLContext.getInstance("TLSv1.3");
    }

    Cookie remember(String id) {
        Cookie cookie = new Cookie("session", id);
        // ruleid: swarmgate.java.cookie-flags-off
        cookie.setHttpOnly(false);
        // ok: swarmgate.java.cookie-flags-off
        cookie.setSecure(true);
        return cookie;
    }

    void security(HttpSecurity http) throws Exception {
        // ruleid: swarmgate.java.csrf-protection-off
        http.csrf(c -> c.disable());
        // ok: swarmgate.java.csrf-protection-off
        http.csrf(c -> c.ignoringRequestMatchers("/hooks/**"));
    }
}
