import { type Grant, LeaseConfigurationError, LeaseUnavailableError } from '@leasehold/core'
import type { RedisLeaseStore } from '@leasehold/redis'
import { eventually } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { within } from '@leasehold/testing/real-time'
import type { RedisServer, RedisServerOptions } from '@leasehold/testing/redis-server'
import { describe, expect, it } from 'vitest'
import { differingLibraries, type ServerLibrary } from './support/libraries.js'
import { Scene } from './support/scene.js'

/** A server with a lease on `held`, and a store that has asked it already. */
async function during(
  library: ServerLibrary,
  options: RedisServerOptions,
  act: (server: RedisServer, store: RedisLeaseStore, held: Grant, scene: Scene) => Promise<void>,
): Promise<void> {
  await Scene.play(async (scene) => {
    const server = await scene.server(options)
    const store = scene.store(library.server(server))
    const held = await granted(store, 'held', { name: 'held' })
    await act(server, store, held, scene)
  })
}

/** Every change is refused with an error that says so, until it is over. */
async function expectUnavailable(store: RedisLeaseStore, held: Grant, said: string): Promise<void> {
  const attempts = [() => store.acquire(claimOf('x'), never), () => store.renew(held, never)]
  for (const attempt of attempts) {
    const error: unknown = await attempt().catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(LeaseUnavailableError)
    expect(String(error)).toContain(said)
  }
}

/** All requests get this answer from now on. */
function saying(server: RedisServer, code: string): Promise<void> {
  return eventually(`it says ${code}`, async () => {
    return await server.command('PING').then(
      () => false,
      (error: Error) => error.message.startsWith(code),
    )
  })
}

async function expectAvailable(store: RedisLeaseStore): Promise<void> {
  await eventually('it works again', async () => (await granted(store, 'x')).grantId === 'x')
}

describeRedis('a server', () => {
  describe.concurrent.each(differingLibraries)('by $name', { timeout: 60_000 }, (library) => {
    it('that is out of memory is unavailable: OOM', async () => {
      await during(library, {}, async (server, store, held) => {
        await server.command('CONFIG', 'SET', 'maxmemory', 1)
        await expectUnavailable(store, held, 'OOM')
        await server.command('CONFIG', 'SET', 'maxmemory', 0)
        await expectAvailable(store)
      })
    })

    it('that cannot write its data is unavailable: MISCONF', async () => {
      const args = ['--enable-protected-configs', 'yes', '--save', '900 1000']
      await during(library, { args }, async (server, store, held) => {
        await server.command('CONFIG', 'SET', 'dir', '/proc')
        await server.command('BGSAVE')
        await eventually('it has failed', async () => {
          return String(await server.command('INFO', 'persistence')).includes('rdb_last_bgsave_status:err')
        })
        await expectUnavailable(store, held, 'MISCONF')
        await server.command('CONFIG', 'SET', 'save', '')
        await expectAvailable(store)
      })
    })

    it('that runs a script for too long is unavailable: BUSY', async () => {
      await during(library, { args: ['--busy-reply-threshold', '50'] }, async (server, store, held) => {
        const running = server.command('EVAL', 'while true do end', 0).catch(() => {})
        await saying(server, 'BUSY')
        await expectUnavailable(store, held, 'BUSY')
        await server.command('SCRIPT', 'KILL')
        await running
        await expectAvailable(store)
      })
    })

    it('that loads its data is unavailable: LOADING', async () => {
      // 100 keys, 30 ms each, and a look at the clients now and then.
      const slow = ['--key-load-delay', '30000', '--loading-process-events-interval-bytes', '1024']
      const args = ['--enable-debug-command', 'yes', '--rdbcompression', 'no', ...slow]
      await during(library, { args }, async (server, store, held, scene) => {
        await server.command('EVAL', `for i = 1, 100 do redis.call('SET', 'k' .. i, string.rep('x', 1000)) end`, 0)
        const loading = server.command('DEBUG', 'RELOAD').catch(() => {})
        await saying(server, 'LOADING')
        await expectUnavailable(store, held, 'LOADING')
        // A later request gets the same error.
        await expectUnavailable(scene.store(library.server(server)), held, 'LOADING')
        await loading
        await expectAvailable(store)
      })
    })

    it('that has become a replica is unavailable, and its connection is dropped: READONLY', async () => {
      await during(library, {}, async (server, store, held, scene) => {
        const master = await scene.server()
        await server.command('REPLICAOF', '127.0.0.1', master.port)
        await eventually('it is in sync', async () => {
          return String(await server.command('INFO', 'replication')).includes('master_link_status:up')
        })
        const connections = async (): Promise<number> => {
          const info = String(await server.command('INFO', 'stats'))
          return Number(/total_connections_received:(\d+)/.exec(info)?.[1])
        }
        const before = await connections()
        await expectUnavailable(store, held, 'READONLY')
        // The one of the question, and one for each attempt that found none.
        expect((await connections()) - before).toBeGreaterThan(1)
        await server.command('REPLICAOF', 'NO', 'ONE')
        await expectAvailable(store)
      })
    })

    it('whose key holds other data causes a configuration error, and the key is not changed', async () => {
      await during(library, {}, async (server, store) => {
        const key = 'leasehold:{job}'
        const mistakes = [
          ['SET', key, 'text'],
          ['SADD', key, 'member'],
          ['HSET', key, 'state', 'leased', 'name', 'no lease'],
          ['HSET', key, 'lease', 'leased    soon', 'owner', 'x'],
        ]
        for (const mistake of mistakes) {
          await server.command(...mistake)
          const before = await server.command('DUMP', key)
          for (const attempt of [() => granted(store, 'x'), () => store.read('job', never)]) {
            const error: unknown = await attempt().catch((reason: unknown) => reason)
            expect(error, mistake.join(' ')).toBeInstanceOf(LeaseConfigurationError)
            expect(String(error)).toContain('holds other data')
          }
          expect(await server.command('DUMP', key)).toBe(before)
          // The others of the same call are well.
          const both = await Promise.allSettled([granted(store, 'x'), granted(store, 'y', { name: 'other' })])
          expect(both.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
          await server.command('DEL', key)
          await server.command('DEL', 'leasehold:{other}')
        }
        await granted(store, 'x')
      })
    })

    it('that is down is unavailable at once, and used as soon as it is up', async () => {
      await during(library, {}, async (server, store) => {
        await server.kill()
        await eventually('it is noticed', async () => {
          return await store.read('job', never).then(
            () => false,
            (error: unknown) => error instanceof LeaseUnavailableError,
          )
        })
        await expect(store.read('job', within(20_000))).rejects.toThrow(LeaseUnavailableError)
        await server.restart()
        await granted(store, 'x')
      })
    })
  })
})
