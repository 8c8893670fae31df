import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StoreServer } from './store-server.js'

/** A folder: it has no server, so that the processor time of the clients is all that there is. */
export function startLocal(): Promise<StoreServer> {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-holding-'))
  return Promise.resolve({
    address: folder,
    version: 'files in a folder',
    commands: '',
    read: () => Promise.resolve({ cpu: 0, commands: 0, at: performance.now(), stored: bytesIn(folder) }),
    stop: () => Promise.resolve(rmSync(folder, { recursive: true, force: true })),
  })
}

/** On the disk; files may go while they are counted. */
function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return files.reduce((sum, file) => {
    const stat = statSync(join(folder, file), { throwIfNoEntry: false })
    return stat?.isFile() === true ? sum + stat.blocks * 512 : sum
  }, 0)
}
