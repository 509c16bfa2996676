package shop;

import com.auth0.jwt.algorithms.Algorithm;
import io.jsonwebtoken.Jwts;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.sql.DriverManager;
import java.util.Random;
import javax.crypto.Cipher;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

class Vault {
    byte[] etag(byte[] body) throws Exception {
        // ok: swarmgate.java.weak-hash
        MessageDigest.getInstance("SHA-256").digest(body);
        // ruleid: swarmgate.java.weak-hash
        return MessageDigest.getInstance("MD5").digest(body);
    }

    byte[] store(MessageDigest digest, String password, String name) {
        // ok: swarmgate.java.password-fast-hash
        digest.update(name.getBytes());
        // ruleid: swarmgate.java.password-fast-hash
        return digest.digest(password.getBytes());
    }

    void ciphers() throws Exception {
        // ruleid: swarmgate.java.broken-cipher
        Cipher.getInstance("AES/ECB/PKCS5Padding");
        // ruleid: swarmgate.java.broken-cipher
        Cipher.getInstance("DES");
        // ok: swarmgate.java.broken-cipher
        Cipher.getInstance("AES/GCM/NoPadding");
    }

    Object key(byte[] loaded) {
        // ok: swarmgate.java.literal-key
        new SecretKeySpec(loaded, "AES");
        // ruleid: swarmgate.java.literal-key
        return new SecretKeySpec("not-a-real-key!!".getBytes(), "AES");
    }

    Object connect(String url) throws Exception {
        // ok: swarmgate.java.literal-database-password
        DriverManager.getConnection(url, "shop", System.getenv("DB_PASSWORD"));
        // ruleid: swarmgate.java.literal-database-password
        return DriverManager.getConnection(url, "shop", "example");
    }

    Object vector(byte[] fresh) {
        // ok: swarmgate.java.fixed-iv
        new IvParameterSpec(fresh);
        // ruleid: swarmgate.java.fixed-iv
        return new IvParameterSpec(new byte[16]);
    }

    String newResetToken() {
        // ruleid: swarmgate.java.predictable-secret
        Random random = new Random();
        return Long.toHexString(random.nextLong());
    }

    String newSessionToken() {
        // ok: swarmgate.java.predictable-secret
        SecureRandom random = new SecureRandom();
        return Long.toHexString(random.nextLong());
    }

    int dice() {
        // ok: swarmgate.java.predictable-secret
        return new Random().nextInt(6);
    }

    void keys() throws Exception {
        KeyPairGenerator weak = KeyPairGenerator.getInstance("RSA");
        // ruleid: swarmgate.java.small-rsa-key
        weak.initialize(1024);
        KeyPairGenerator strong = KeyPairGenerator.getInstance("RSA");
        // ok: swarmgate.java.small-rsa-key
        strong.initialize(4096);
    }

    Object claims(String token, byte[] key) {
        // ok: swarmgate.java.jwt-not-verified
        Algorithm.HMAC256(key);
        // ruleid: swarmgate.java.jwt-not-verified
        return Jwts.parser().parseClaimsJwt(token);
    }
}
