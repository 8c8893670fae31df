import { readdir, readFile, readlink } from 'node:fs/promises'

/** The inode of the socket in a row of the kernel's table: the fifth field after the state, which is "established". */
const REST = String.raw` 01(?: +\S+){5} +(\d+)`

/**
 * The process of this machine that has made a connection over IPv4 from this port to that one, of those given by their ids. A
 * server does not say who it is when it connects to another one, but the kernel knows. Linux only. The table of a busy machine is
 * long, so nothing waits for it but the connection.
 */
export async function connectionOwner(
  from: number,
  to: number,
  candidates: readonly number[],
): Promise<number | undefined> {
  const table = await readFile('/proc/net/tcp', 'latin1')
  const [, inode] = new RegExp(`:${hex(from)} [0-9A-F]{8}:${hex(to)}${REST}`).exec(table) ?? []
  if (inode === undefined) return undefined
  const owners = await Promise.all(candidates.map((pid) => hasOpen(pid, `socket:[${inode}]`)))
  return candidates.find((_, place) => owners[place])
}

function hex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0')
}

async function hasOpen(pid: number, file: string): Promise<boolean> {
  // It may have ended, and may close files meanwhile.
  const names = await readdir(`/proc/${pid}/fd`).catch(() => [])
  const files = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')))
  return files.includes(file)
}
