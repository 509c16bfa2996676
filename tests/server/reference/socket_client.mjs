// A client of the reference: does what stdin says, a JSON command a line, and tells everything that comes, a JSON line each.
import { createInterface } from 'node:readline';
import { io } from 'socket.io-client';

const tell = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);
const [url, options] = [process.argv[2], JSON.parse(process.argv[3])];
const socket = io(url, { reconnection: false, ...options });

socket.on('connect', () => tell({ event: 'connect', data: socket.id }));
socket.on('connect_error', (error) => {
  tell({ event: 'connect_error', data: error.message });
  process.exit(0);
});
socket.on('disconnect', (reason) => {
  tell({ event: 'disconnect', data: reason });
  process.exit(0);
});
socket.onAny((event, data) => tell({ event, data: data ?? null }));

createInterface({ input: process.stdin }).on('line', (line) => {
  const { emit, data } = JSON.parse(line);
  const given = data === undefined ? [] : [data];
  socket.emit(emit, ...given, (answer) => tell({ event: `ack ${emit}`, data: answer ?? null }));
});
process.stdin.on('end', () => socket.disconnect());
