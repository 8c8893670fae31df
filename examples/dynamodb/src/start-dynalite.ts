import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { freePort } from '@leasehold/example-failover'

/** Starts dynalite, which answers as DynamoDB and keeps everything in memory. */
export async function startDynalite(): Promise<{ readonly url: string; stop(): void }> {
  const main = createRequire(import.meta.url).resolve('dynalite/cli.js')
  const port = await freePort()
  const dynalite = spawn(
    process.execPath,
    [main, '--host', '127.0.0.1', '--port', `${port}`, '--createTableMs', '50'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  await listens(dynalite)
  return { url: `http://127.0.0.1:${port}`, stop: () => void dynalite.kill() }
}

async function listens(dynalite: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    dynalite.stdout?.on('data', (text) => {
      if (String(text).includes('listening')) resolve()
    })
    dynalite.once('exit', () => reject(new Error('dynalite did not start')))
  })
}
