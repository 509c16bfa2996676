package store

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
)

func save(path string, data []byte) error {
	// ruleid: swarmgate.go.world-writable
	if err := os.MkdirAll(filepath.Dir(path), 0777); err != nil {
		return err
	}
	// ok: swarmgate.go.world-writable
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	// ruleid: swarmgate.go.world-writable
	return os.WriteFile(path, data, 0o666)
}

func unpack(archive *zip.ReadCloser, folder string) []string {
	var places []string
	for _, entry := range archive.File {
		// ruleid: swarmgate.go.archive-entry-path
		place := filepath.Join(folder, entry.Name)
		places = append(places, place)
	}
	return places
}

func unpackSafely(archive *zip.ReadCloser, folder string) ([]string, error) {
	var places []string
	for _, entry := range archive.File {
		if !filepath.IsLocal(entry.Name) {
			return nil, fmt.Errorf("entry %q leaves the folder", entry.Name)
		}
		// ok: swarmgate.go.archive-entry-path
		places = append(places, filepath.Join(folder, entry.Name))
	}
	return places, nil
}

func saveSecret(path string, data []byte) error {
	// ruleid: swarmgate.go.secret-readable-by-others
	if err := os.WriteFile(path, data, 0644); err != nil {
		return err
	}
	// ok: swarmgate.go.secret-readable-by-others
	return os.WriteFile(path, data, 0600)
}

func saveReport(path string, data []byte) error {
	// ok: swarmgate.go.secret-readable-by-others
	return os.WriteFile(path, data, 0644)
}

func unpackChecked(reader *zip.Reader, folder string) {
	for _, entry := range reader.File {
		if !isPathSafe(entry.Name) {
			continue
		}
		// ok: swarmgate.go.archive-entry-path
		fmt.Println(filepath.Join(folder, entry.Name))
	}
}
