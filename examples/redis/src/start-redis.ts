import { spawn } from 'node:child_process'
import { freePort } from '@leasehold/example-failover'
import { Redis } from 'ioredis'

/** Starts a `redis-server` without persistence: the program of `REDIS_SERVER`, or the one on the path. */
export async function startRedis(): Promise<{ readonly url: string; stop(): void }> {
  const { REDIS_SERVER = 'redis-server' } = process.env
  const port = await freePort()
  const server = spawn(REDIS_SERVER, ['--port', String(port), '--bind', '127.0.0.1', '--save', ''], { stdio: 'ignore' })
  const failed = new Promise<never>((_, reject) => {
    server.once('error', () => reject(new Error(`${REDIS_SERVER} does not start: install Redis, or set REDIS_URL`)))
  })
  const url = `redis://127.0.0.1:${port}`
  const redis = new Redis(url, { retryStrategy: () => 50, maxRetriesPerRequest: null })
  redis.on('error', () => {})
  try {
    await Promise.race([redis.ping(), failed])
  } finally {
    redis.disconnect()
  }
  return { url, stop: () => void server.kill() }
}
