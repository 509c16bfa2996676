require "digest"
require "net/http"
require "openssl"

def store(password, body)
  # ruleid: swarmgate.ruby.password-fast-hash
  old = Digest::SHA256.hexdigest(password)
  # ok: swarmgate.ruby.password-fast-hash
  new = BCrypt::Password.create(password)
  # ruleid: swarmgate.ruby.weak-hash
  etag = Digest::MD5.hexdigest(body)
  # ok: swarmgate.ruby.weak-hash, swarmgate.ruby.password-fast-hash
  digest = Digest::SHA256.hexdigest(body)
  [old, new, etag, digest]
end

def ciphers
  # ruleid: swarmgate.ruby.broken-cipher
  OpenSSL::Cipher.new("des-ede3-cbc")
  # ok: swarmgate.ruby.broken-cipher
  OpenSSL::Cipher.new("aes-256-gcm")
end

def new_reset_token
  # ruleid: swarmgate.ruby.predictable-secret
  rand(10**12).to_s(36)
end

def new_session_token
  # ok: swarmgate.ruby.predictable-secret
  SecureRandom.hex(16)
end

def dice
  # ok: swarmgate.ruby.predictable-secret
  rand(6)
end

def connect(http, authority)
  # ruleid: swarmgate.ruby.tls-verification-off
  http.verify_mode = OpenSSL::SSL::VERIFY_NONE
  # ok: swarmgate.ruby.tls-verification-off
  http.verify_mode = OpenSSL::SSL::VERIFY_PEER
  http.ca_file = authority
end
