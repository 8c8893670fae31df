import { spawn } from 'node:child_process'
import type { HolderElsewhere } from '@leasehold/testkit'
import type { Azurite } from './azurite.js'

const FILE = new URL('./holder.ts', import.meta.url).pathname

/** A process of its own that holds the lease until it is killed. */
export async function spawnHolder(
  azurite: Azurite,
  container: string,
  name: string,
  ttl: number,
): Promise<HolderElsewhere> {
  const options = ['--import', 'tsx', '--conditions', '@leasehold/source', FILE]
  const child = spawn(process.execPath, [...options, azurite.connectionString(), container, name, String(ttl)])
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.stderr.on('data', (text) => process.stderr.write(text))
  const token = await new Promise<string>((resolve) => child.stdout.once('data', (text) => resolve(String(text))))
  return {
    fencingToken: BigInt(token),
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}
