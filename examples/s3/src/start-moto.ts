import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@leasehold/example-failover'

/** A program that runs moto on the given port: that of `MOTO`, or one in the cache of test servers. */
export function motoProgram(): string | undefined {
  const cache = process.env.SERVER_CACHE ?? join(homedir(), '.cache', 'test-servers')
  const cached = join(cache, 'moto', 'moto')
  return process.env.MOTO ?? (existsSync(cached) ? cached : undefined)
}

/** Starts moto, which emulates S3, with a bucket. It accepts any keys. */
export async function startMoto(bucket: string): Promise<{ readonly endpoint: string; stop(): Promise<void> }> {
  const program = motoProgram()
  if (program === undefined)
    throw new Error('set MOTO to a program that runs moto on a port, or BUCKET to your own bucket')
  const port = await freePort()
  const endpoint = `http://127.0.0.1:${port}`
  const server = spawn(program, [String(port)], { stdio: 'ignore' })
  await Promise.race([ended(server), created(`${endpoint}/${bucket}`)])
  return {
    endpoint,
    stop: async () => {
      const exited = once(server, 'exit')
      server.kill()
      await exited
    },
  }
}

async function ended(server: ChildProcess): Promise<never> {
  await Promise.race([once(server, 'error'), once(server, 'exit')])
  throw new Error('moto does not start: check MOTO, or set BUCKET to your own bucket')
}

async function created(bucket: string): Promise<void> {
  for (;;) {
    const response = await fetch(bucket, { method: 'PUT' }).catch(() => undefined)
    if (response?.ok === true) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
