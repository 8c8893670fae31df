import { LeaseStoreUnfitError } from '@leasehold/core'
import type { StoreFinding } from '@leasehold/core/store'
import type { RedisLeaseStore } from '@leasehold/redis'
import { eventually } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import type { RedisServer } from '@leasehold/testing/redis-server'
import { expect, it, vi } from 'vitest'
import { scriptCalls } from './support/command-count.js'
import { type Library, libraries } from './support/libraries.js'
import { Scene } from './support/scene.js'

const EVICTING = ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru']

/** The findings that are not ok, as `check: result`. */
async function troublesOf(store: RedisLeaseStore): Promise<string[]> {
  const findings = await store.probe(never)
  return findings.filter(({ result }) => result !== 'ok').map(({ check, result }) => `${check}: ${result}`)
}

async function findingOf(store: RedisLeaseStore, check: string): Promise<StoreFinding | undefined> {
  return (await store.probe(never)).find((finding) => finding.check === check)
}

async function replicaOf(scene: Scene, master: RedisServer, isReadOnly: 'yes' | 'no'): Promise<RedisServer> {
  const args = ['--replicaof', '127.0.0.1', String(master.port), '--replica-read-only', isReadOnly]
  const replica = await scene.server({ args: ['--repl-diskless-sync-delay', '0', ...args] })
  await eventually('the replica follows', async () =>
    String(await replica.command('INFO', 'replication')).includes('link_status:up'),
  )
  return replica
}

/** A user with these rights only. */
async function userOf(server: RedisServer, rights: readonly string[]): Promise<Parameters<Library['server']>[0]> {
  const access = { port: server.port, username: 'app', password: 'open sesame' }
  await server.command('ACL', 'SETUSER', 'app', 'reset', 'on', `>${access.password}`, '~*', '&*', ...rights)
  return access
}

describeRedis('a server', () => {
  const { server: clientOf } = libraries[0] as Library

  it('that may evict leases is refused before the first grant, until the policy is changed', async () => {
    await Scene.play(async (scene) => {
      const server = await scene.server({ args: EVICTING })
      const store = scene.store(clientOf(server))
      const refused = store.acquire(claimOf('a'), never)
      await expect(refused).rejects.toBeInstanceOf(LeaseStoreUnfitError)
      await expect(refused).rejects.toMatchObject({ setting: 'maxmemory-policy', leaseName: 'job', store: 'redis' })
      await expect(refused).rejects.toThrow('maxmemory-policy is allkeys-lru')
      expect(await server.command('DBSIZE')).toBe(0)
      expect(await troublesOf(store)).toContain('eviction: failed')
      expect(await granted(scene.store(clientOf(server), { probe: false }), 'b')).toBeDefined()
      await server.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
      expect(await store.acquire(claimOf('c', { name: 'other' }), never)).toMatchObject({ granted: true })
    })
  })

  it('that evicts nothing, because its memory has no limit, is accepted', async () => {
    await Scene.play(async (scene) => {
      const server = await scene.server({ args: ['--maxmemory-policy', 'allkeys-lru'] })
      await granted(scene.store(clientOf(server)), 'a')
    })
  })

  it('that is a replica and accepts writes is refused before the first grant', async () => {
    await Scene.play(async (scene) => {
      const replica = await replicaOf(scene, await scene.server(), 'no')
      const store = scene.store(clientOf(replica))
      await expect(store.acquire(claimOf('a'), never)).rejects.toMatchObject({ code: 'unfit' })
      expect(await findingOf(store, 'role')).toMatchObject({ result: 'failed', setting: 'replica-read-only' })
    })
  })

  it('that is a read-only replica is unavailable, for it may become the master; the check names it', async () => {
    await Scene.play(async (scene) => {
      const replica = await replicaOf(scene, await scene.server(), 'yes')
      const store = scene.store(clientOf(replica))
      await expect(store.acquire(claimOf('a'), never)).rejects.toMatchObject({ code: 'unavailable' })
      expect(await findingOf(store, 'role')).toMatchObject({
        result: 'failed',
        found: 'the server is a replica, and read-only',
      })
    })
  })

  it('with an append-only file and no replicas passes every check', async () => {
    await Scene.play(async (scene) => {
      const server = await scene.server({ args: ['--appendonly', 'yes'] })
      const store = scene.store(clientOf(server))
      expect(await troublesOf(store)).toEqual([])
      const clock = await findingOf(store, 'clock')
      expect(Number(/is (\d+) ms/.exec(clock?.found ?? '')?.[1])).toBeLessThan(1_000)
    })
  })

  it('that keeps nothing on disk, or has replicas that may lag behind, gets warnings', async () => {
    await Scene.play(async (scene) => {
      const master = await scene.server()
      await replicaOf(scene, master, 'yes')
      const store = scene.store(clientOf(master))
      expect(await troublesOf(store)).toEqual(['persistence: warning', 'replication: warning'])
      await master.command('CONFIG', 'SET', 'min-replicas-to-write', 1)
      await master.command('CONFIG', 'SET', 'appendonly', 'yes')
      expect(await troublesOf(store)).toEqual([])
      // The server refuses writes until the replica has reported once more.
      await vi.waitFor(() => granted(store, 'a'), { timeout: 30_000, interval: 100 })
    })
  })

  it('whose user may not run INFO is not accused', async () => {
    await Scene.play(async (scene) => {
      const server = await scene.server()
      const commands = [
        'evalsha',
        'eval',
        'subscribe',
        'publish',
        'hget',
        'hlen',
        'hmget',
        'hset',
        'hdel',
        'pexpireat',
        'time',
      ]
      const store = scene.store(
        clientOf(
          await userOf(
            server,
            commands.map((command) => `+${command}`),
          ),
        ),
      )
      await granted(store, 'a')
      expect(await troublesOf(store)).toEqual([
        'eviction: unknown',
        'role: unknown',
        'persistence: unknown',
        'replication: unknown',
      ])
    })
  })

  it('whose user may not subscribe is named', async () => {
    await Scene.play(async (scene) => {
      const server = await scene.server()
      const user = await userOf(server, ['+@all', '-subscribe'])
      const finding = await findingOf(scene.store(clientOf(user)), 'notifications')
      expect(finding).toMatchObject({ result: 'failed', found: expect.stringContaining('+subscribe') })
    })
  })

  it('is asked once for each store, before the first claim, in one round trip', async () => {
    await Scene.play(async (scene) => {
      const server = await scene.server()
      const store = scene.store(clientOf(server))
      await store.read('job', never)
      const before = await scriptCalls(server)
      await granted(store, 'a')
      expect((await scriptCalls(server)) - before).toBe(2)
      await granted(store, 'b', { name: 'other' })
      expect((await scriptCalls(server)) - before).toBe(3)
    })
  })
})
