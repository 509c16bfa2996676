using System;
using System.Security.Cryptography;
using System.Text;
using Microsoft.IdentityModel.Tokens;

namespace Shop
{
    public class Vault
    {
        public byte[] Etag(byte[] body)
        {
            // ok: swarmgate.csharp.weak-hash
            SHA256.HashData(body);
            // ruleid: swarmgate.csharp.weak-hash
            return MD5.HashData(body);
        }

        public byte[] Store(string password, string title, HashAlgorithm hash)
        {
            // ok: swarmgate.csharp.password-fast-hash
            hash.ComputeHash(Encoding.UTF8.GetBytes(title));
            // ruleid: swarmgate.csharp.password-fast-hash
            return hash.ComputeHash(Encoding.UTF8.GetBytes(password));
        }

        public void Ciphers(byte[] key)
        {
            // ruleid: swarmgate.csharp.broken-cipher
            var old = TripleDES.Create();
            var aes = Aes.Create();
            // ruleid: swarmgate.csharp.broken-cipher
            aes.Mode = CipherMode.ECB;
            // ok: swarmgate.csharp.broken-cipher
            aes.Mode = CipherMode.CBC;
            // ok: swarmgate.csharp.literal-key
            aes.Key = key;
            // ruleid: swarmgate.csharp.literal-key
            var signing = new SymmetricSecurityKey(Encoding.UTF8.GetBytes("not-a-real-key"));
        }

        public string NewResetToken()
        {
            // ruleid: swarmgate.csharp.predictable-secret
            var random = new Random();
            return random.Next().ToString("x");
        }

        public string NewSessionToken()
        {
            // ok: swarmgate.csharp.predictable-secret
            return Convert.ToHexString(RandomNumberGenerator.GetBytes(16));
        }

        public int Dice()
        {
            // ok: swarmgate.csharp.predictable-secret
            return new Random().Next(6);
        }

        public TokenValidationParameters Tokens(SecurityKey key, bool strict)
        {
            if (strict)
            {
                // ok: swarmgate.csharp.jwt-not-verified
                return new TokenValidationParameters { IssuerSigningKey = key, ValidateLifetime = true };
            }
            // ruleid: swarmgate.csharp.jwt-not-verified
            return new TokenValidationParameters { IssuerSigningKey = key, ValidateLifetime = false };
        }
    }
}
