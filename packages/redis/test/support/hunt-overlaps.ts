/**
 * Rolls many deployments, each with kills, and prints every overlap:
 * `node --import tsx --conditions @leasehold/source packages/redis/test/support/hunt-overlaps.ts LIBRARY ROUNDS [PATH]`, with the
 * path of redis-semaphore where that is not installed.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OldRedisLibrary } from '@leasehold/redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { replaceProcesses } from './rolling-deployment.js'

/** What the old library does alone: redis-semaphore does not look at the clock before its next refresh. */
const AMONG_OLD = /^old-\S+ and old-\S+ both held/

const [library = 'redlock', rounds = '100', semaphorePath] = process.argv.slice(2)
const server = await RedisServer.start()
const folder = mkdtempSync(join(tmpdir(), 'leasehold-overlaps-'))
let found = 0
let amongOld = 0
let byOld = 0
let byNew = 0
try {
  for (let round = 1; round <= Number(rounds); round += 1) {
    const task = { port: server.port, library: library as OldRedisLibrary, name: `orders-${round}`, semaphorePath }
    const { violations, heldByOld, heldByNew } = await replaceProcesses(folder, task)
    const own = violations.filter((violation) => !AMONG_OLD.test(violation))
    found += own.length
    amongOld += violations.length - own.length
    byOld += heldByOld
    byNew += heldByNew
    for (const violation of violations) process.stdout.write(`round ${round}: ${violation}\n`)
    process.stdout.write(
      `${library}: ${round} rounds, ${byOld} + ${byNew} holdings, ${found} violations, ${amongOld} among old processes\n`,
    )
  }
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = found === 0 ? 0 : 1
