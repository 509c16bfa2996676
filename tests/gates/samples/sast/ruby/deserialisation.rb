class CartsController < ApplicationController
  def load
    # ruleid: swarmgate.ruby.untrusted-deserialisation
    cart = Marshal.load(Base64.decode64(cookies[:cart]))
    # ruleid: swarmgate.ruby.untrusted-deserialisation
    YAML.unsafe_load(request.body.read)
    # ok: swarmgate.ruby.untrusted-deserialisation
    YAML.safe_load(request.body.read)
    # ok: swarmgate.ruby.untrusted-deserialisation
    Marshal.load(File.binread("cache.bin")) || cart
  end

  def import(text)
    # ok: swarmgate.ruby.xxe
    Nokogiri::XML(text) { |config| config.strict.nonet }
    # ruleid: swarmgate.ruby.xxe
    Nokogiri::XML(text) { |config| config.strict.noent }
  end
end
