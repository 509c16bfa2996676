package shop;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

class Unpacker {
    void open(Path path, File file) throws IOException {
        // ruleid: swarmgate.java.world-writable
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxrwxrwx"));
        // ok: swarmgate.java.world-writable
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-r--r--"));
        // ruleid: swarmgate.java.world-writable
        file.setWritable(true, false);
    }

    void unpack(ZipInputStream zip, File folder) throws IOException {
        ZipEntry entry;
        while ((entry = zip.getNextEntry()) != null) {
            // ruleid: swarmgate.java.archive-entry-path
            File place = new File(folder, entry.getName());
            Files.copy(zip, place.toPath());
        }
    }

    void unpackSafely(ZipInputStream zip, Path folder) throws IOException {
        ZipEntry entry;
        while ((entry = zip.getNextEntry()) != null) {
            // ok: swarmgate.java.archive-entry-path
            Path place = folder.resolve(entry.getName()).normalize();
            if (!place.startsWith(folder)) {
                throw new IOException("entry leaves the folder");
            }
            Files.copy(zip, place);
        }
    }
}
