using System.IO;
using System.Runtime.Serialization.Formatters.Binary;
using System.Xml;
using Newtonsoft.Json;

namespace Shop
{
    public class Importer
    {
        public object Restore(Stream stream)
        {
            // ruleid: swarmgate.csharp.unsafe-formatter
            var formatter = new BinaryFormatter();
            // ok: swarmgate.csharp.unsafe-formatter
            var plain = new DataContractSerializer(typeof(Cart));
            return plain.ReadObject(stream) ?? formatter.Deserialize(stream);
        }

        public object Read(string text)
        {
            // ok: swarmgate.csharp.type-names-in-json
            var strict = new JsonSerializerSettings { TypeNameHandling = TypeNameHandling.None };
            // ruleid: swarmgate.csharp.type-names-in-json
            var loose = new JsonSerializerSettings { MaxDepth = 5, TypeNameHandling = TypeNameHandling.Auto };
            return JsonConvert.DeserializeObject(text, loose);
        }

        public XmlReader Parse(Stream stream)
        {
            // ok: swarmgate.csharp.xxe
            var strict = new XmlReaderSettings { DtdProcessing = DtdProcessing.Prohibit };
            // ruleid: swarmgate.csharp.xxe
            var loose = new XmlReaderSettings { DtdProcessing = DtdProcessing.Parse };
            var document = new XmlDocument();
            // ruleid: swarmgate.csharp.xxe
            document.XmlResolver = new XmlUrlResolver();
            return XmlReader.Create(stream, loose);
        }
    }
}
