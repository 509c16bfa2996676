package client

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"

	"golang.org/x/crypto/ssh"
)

func transports(pool *x509.CertPool) []*http.Transport {
	return []*http.Transport{
		// ruleid: swarmgate.go.tls-verification-off
		{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
		// ok: swarmgate.go.tls-verification-off, swarmgate.go.old-tls
		{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}},
		// ruleid: swarmgate.go.old-tls
		{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS10}},
	}
}

func loosen(config *tls.Config) {
	// ruleid: swarmgate.go.tls-verification-off
	config.InsecureSkipVerify = true
}

func remote(user string, known ssh.HostKeyCallback) []*ssh.ClientConfig {
	return []*ssh.ClientConfig{
		// ruleid: swarmgate.go.ssh-host-key-ignored
		{User: user, HostKeyCallback: ssh.InsecureIgnoreHostKey()},
		// ok: swarmgate.go.ssh-host-key-ignored
		{User: user, HostKeyCallback: known},
	}
}

func remember(w http.ResponseWriter, id string) {
	// ruleid: swarmgate.go.cookie-flags-off
	http.SetCookie(w, &http.Cookie{Name: "session_id", Value: id, Path: "/"})
	// ok: swarmgate.go.cookie-flags-off
	http.SetCookie(w, &http.Cookie{Name: "session_id", Value: id, HttpOnly: true, Secure: true})
	// ok: swarmgate.go.cookie-flags-off
	http.SetCookie(w, &http.Cookie{Name: "theme", Value: "dark"})
}
