using System;
using System.Data.SqlClient;
using System.Diagnostics;
using System.DirectoryServices;
using System.IO;
using System.Net.Http;
using System.Text.Encodings.Web;
using System.Threading.Tasks;
using System.Xml;
using Microsoft.AspNetCore.Html;
using Microsoft.AspNetCore.Mvc;

namespace Shop
{
    public class OrdersController : Controller
    {
        private readonly SqlConnection connection;
        private readonly HttpClient client;
        private readonly ShopContext shop;

        [HttpGet("orders")]
        public IActionResult Orders([FromQuery] string status)
        {
            string sql = "SELECT total FROM orders WHERE status = '" + status + "'";
            // ruleid: swarmgate.csharp.sql-injection
            var command = new SqlCommand(sql, connection);
            // ok: swarmgate.csharp.sql-injection
            var safe = new SqlCommand("SELECT total FROM orders WHERE status = @status", connection);
            safe.Parameters.AddWithValue("@status", status);
            int page = int.Parse(Request.Query["page"]);
            // ok: swarmgate.csharp.sql-injection
            shop.Orders.FromSqlRaw("SELECT * FROM orders LIMIT 10 OFFSET {0}", page);
            return Ok(command.ExecuteScalar());
        }

        public int Count(string table, string tenant)
        {
            // ruleid: swarmgate.csharp.sql-built-from-strings
            var command = new SqlCommand("DELETE FROM carts WHERE tenant = '" + tenant + "'", connection);
            // ruleid: swarmgate.csharp.sql-built-from-strings
            command.CommandText = $"SELECT count(*) FROM {table} WHERE gone = 0";
            // ok: swarmgate.csharp.sql-built-from-strings
            command.CommandText = "SELECT count(*) " + "FROM orders";
            return command.ExecuteNonQuery();
        }

        [HttpPost]
        public IActionResult Convert(string format)
        {
            // ruleid: swarmgate.csharp.command-injection
            Process.Start("cmd.exe", "/c convert in.png out." + format);
            // ok: swarmgate.csharp.command-injection
            var start = new ProcessStartInfo("convert");
            start.ArgumentList.Add(format);
            return Ok();
        }

        public IActionResult Download(string name)
        {
            // ruleid: swarmgate.csharp.path-traversal
            var data = System.IO.File.ReadAllBytes(Path.Combine("/srv/uploads", name));
            // ok: swarmgate.csharp.path-traversal
            data = System.IO.File.ReadAllBytes(Path.Combine("/srv/uploads", Path.GetFileName(name)));
            return File(data, "image/png");
        }

        public IActionResult DownloadChecked(string name)
        {
            var place = Path.GetFullPath(Path.Combine("/srv/uploads", name));
            if (!place.StartsWith("/srv/uploads/"))
            {
                return NotFound();
            }
            // ok: swarmgate.csharp.path-traversal
            return File(System.IO.File.ReadAllBytes(place), "image/png");
        }

        public async Task<IActionResult> Preview([FromQuery] string url, [FromQuery] string term)
        {
            // ruleid: swarmgate.csharp.ssrf
            var page = await client.GetStringAsync(url);
            // ok: swarmgate.csharp.ssrf
            page += await client.GetStringAsync("https://search.internal/?q=" + Uri.EscapeDataString(term));
            return Ok(page);
        }

        public IActionResult Login(string next)
        {
            // ruleid: swarmgate.csharp.open-redirect
            return Redirect(next);
        }

        public IActionResult LoginChecked(string next)
        {
            if (Url.IsLocalUrl(next))
            {
                // ok: swarmgate.csharp.open-redirect
                return Redirect(next);
            }
            return LocalRedirect("/");
        }

        public IActionResult Greet()
        {
            string name = Request.Query["name"];
            // ok: swarmgate.csharp.cross-site-scripting
            ViewBag.Safe = new HtmlString("<b>" + HtmlEncoder.Default.Encode(name) + "</b>");
            // ruleid: swarmgate.csharp.cross-site-scripting
            return Content("<h1>Hello " + name + "</h1>", "text/html");
        }

        public IActionResult Person(DirectorySearcher searcher, XmlDocument items)
        {
            string user = Request.Query["user"];
            // ruleid: swarmgate.csharp.ldap-injection
            searcher.Filter = "(uid=" + user + ")";
            // ok: swarmgate.csharp.ldap-injection
            searcher.Filter = "(objectClass=person)";
            // ok: swarmgate.csharp.xpath-injection
            items.SelectNodes("//item/price");
            // ruleid: swarmgate.csharp.xpath-injection
            return Ok(items.SelectSingleNode("//item[@owner='" + user + "']"));
        }
    }
}
