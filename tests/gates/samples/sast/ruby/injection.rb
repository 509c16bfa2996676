class OrdersController < ApplicationController
  def index
    name = params[:name]
    # ruleid: swarmgate.ruby.sql-injection, swarmgate.ruby.sql-interpolation
    @orders = Order.where("name = '#{name}'")
    # ruleid: swarmgate.ruby.sql-injection
    @sorted = Order.order(params[:sort])
    # ok: swarmgate.ruby.sql-injection
    @safe = Order.where("name = ?", name)
    # ok: swarmgate.ruby.sql-injection
    @mapped = Order.where(name: params[:name])
    page = params[:page].to_i
    # ok: swarmgate.ruby.sql-injection
    @page = Order.find_by_sql("SELECT * FROM orders LIMIT 10 OFFSET #{page}")
  end

  def count(tenant)
    # ruleid: swarmgate.ruby.sql-interpolation
    Order.connection.execute("DELETE FROM carts WHERE tenant = '#{tenant}'")
    # ok: swarmgate.ruby.sql-interpolation
    Order.connection.execute("DELETE FROM carts WHERE tenant = #{Order.connection.quote(tenant)}")
    # ok: swarmgate.ruby.sql-interpolation
    Order.where("total > 10")
  end

  def convert
    format = params[:format]
    # ruleid: swarmgate.ruby.command-injection
    system("convert in.png out.#{format}")
    # ruleid: swarmgate.ruby.command-injection
    listing = `ls #{format}`
    # ok: swarmgate.ruby.command-injection
    system("convert", "in.png", format)
    # ok: swarmgate.ruby.command-injection
    system("convert in.png #{Shellwords.escape(format)}")
    listing
  end

  def download
    # ruleid: swarmgate.ruby.path-traversal
    send_file Rails.root.join("uploads", params[:file])
    # ok: swarmgate.ruby.path-traversal
    send_file Rails.root.join("uploads", File.basename(params[:file]))
  end

  def compute
    # ruleid: swarmgate.ruby.code-injection
    eval(params[:formula])
    # ruleid: swarmgate.ruby.code-injection
    model = params[:kind].constantize
    # ruleid: swarmgate.ruby.code-injection
    model.new.send(params[:action_name])
    # ok: swarmgate.ruby.code-injection
    model.new.send(:refresh, params[:id])
  end

  def page
    # ruleid: swarmgate.ruby.template-injection
    text = ERB.new(params[:body]).result
    # ok: swarmgate.ruby.template-injection
    render inline: "<p><%= text %></p>", locals: { text: text }
  end

  def login
    # ruleid: swarmgate.ruby.open-redirect
    redirect_to params[:next]
  end

  def show
    # ok: swarmgate.ruby.open-redirect
    redirect_to Order.find(params[:id])
  end

  def preview
    # ruleid: swarmgate.ruby.ssrf
    Net::HTTP.get(URI(params[:url]))
    # ok: swarmgate.ruby.ssrf
    Net::HTTP.get(URI("https://search.internal/?q=#{CGI.escape(params[:q])}"))
  end

  def greet
    # ruleid: swarmgate.ruby.cross-site-scripting
    @title = "<b>#{params[:name]}</b>".html_safe
    # ok: swarmgate.ruby.cross-site-scripting
    @safe = sanitize(params[:name]).html_safe
    # ok: swarmgate.ruby.cross-site-scripting
    @fixed = "<b>hello</b>".html_safe
  end
end
