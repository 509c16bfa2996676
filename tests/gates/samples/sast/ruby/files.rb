require "fileutils"

def prepare(folder)
  # ruleid: swarmgate.ruby.world-writable
  FileUtils.chmod(0o777, folder)
  # ruleid: swarmgate.ruby.world-writable
  File.chmod(0666, folder)
  # ok: swarmgate.ruby.world-writable
  FileUtils.chmod(0o750, folder)
end
