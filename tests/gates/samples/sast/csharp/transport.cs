using System.Net;
using System.Net.Http;
using Microsoft.AspNetCore.Cors.Infrastructure;
using Microsoft.AspNetCore.Http;

namespace Shop
{
    public class Startup
    {
        public void Clients(HttpClientHandler handler, string thumbprint)
        {
            // ruleid: swarmgate.csharp.tls-verification-off
            handler.ServerCertificateCustomValidationCallback = (message, cert, chain, errors) => true;
            // ok: swarmgate.csharp.tls-verification-off
            handler.ServerCertificateCustomValidationCallback = (message, cert, chain, errors) => cert.Thumbprint == thumbprint;
            // ruleid: swarmgate.csharp.old-tls
            ServicePointManager.SecurityProtocol = SecurityProtocolType.Tls11;
            // ok: swarmgate.csharp.old-tls
            ServicePointManager.SecurityProtocol = SecurityProtocolType.Tls12;
        }

        public void Remember(HttpResponse response, string id)
        {
            // ruleid: swarmgate.csharp.cookie-flags-off
            response.Cookies.Append("session", id, new CookieOptions { Secure = true, HttpOnly = false });
            // ok: swarmgate.csharp.cookie-flags-off
            response.Cookies.Append("session", id, new CookieOptions { Secure = true, HttpOnly = true });
        }

        public void Cors(CorsPolicyBuilder policy)
        {
            // ruleid: swarmgate.csharp.cors-any-origin-with-credentials
            policy.SetIsOriginAllowed(origin => true).AllowAnyHeader().AllowAnyMethod().AllowCredentials();
            // ok: swarmgate.csharp.cors-any-origin-with-credentials
            policy.WithOrigins("https://shop.internal").AllowAnyHeader().AllowCredentials();
        }
    }
}
