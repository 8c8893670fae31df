import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '@leasehold/testing'
import type { ConsulServer } from '@leasehold/testing/consul-server'
import { describeConsul } from '@leasehold/testing/describe-consul'
import { never } from '@leasehold/testing/job-claims'
import { hasRenewed } from '@leasehold/testing/players'
import { describe, expect, it } from 'vitest'
import { FOREVER, Scene, sessionOf } from './support/scene.js'

/** A lease of this name, over a store without a prefix, has the key of `consul lock deploy`. */
const NAME = 'deploy/.lock'

/** Whether the key is held. */
async function isHeld(server: ConsulServer): Promise<boolean> {
  return (await sessionOf(server, NAME).catch(() => undefined)) !== undefined
}

describeConsul('beside `consul lock` on the same key', () => {
  describe.concurrent('a lease', { timeout: 90_000 }, () => {
    it('is not granted while the command holds the lock, and is granted at its end', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const command = server.command('lock', 'deploy', 'sleep 3')
        await eventually('the command holds the lock', () => isHeld(server))
        const store = scene.store([server], { prefix: '' })
        const player = scene.player('ours', store, { name: NAME })
        expect(await player.lease.acquire()).toBe(false)
        expect(await store.read(NAME, never)).toMatchObject({ state: 'leased', owner: '', grantId: '' })
        const granted = player.lease.acquire(FOREVER).then(() => true)
        expect(await Promise.race([granted, sleep(1_000)])).toBeUndefined()
        await command
        expect(await granted).toBe(true)
      })
    })

    it('keeps the command from its work while it is held, and lets it begin at the release', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const player = scene.player('ours', scene.store([server], { prefix: '' }), { name: NAME })
        await player.lease.acquire()
        await expect(server.command('lock', '-try=1s', 'deploy', 'echo began')).rejects.toThrow(/[Ll]ock/)
        const command = server.command('lock', 'deploy', 'echo began')
        await hasRenewed(player, 2)
        await player.lease.release()
        expect(await command).toContain('began')
      })
    })

    it('has larger tokens after the command, which deletes the key at its end', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const player = scene.player('ours', scene.store([server], { prefix: '' }), { name: NAME })
        const tokens: bigint[] = []
        for (let round = 0; round < 3; round += 1) {
          await player.lease.acquire()
          tokens.push(player.lease.fencingToken ?? 0n)
          await player.lease.release()
          expect(await server.command('lock', 'deploy', 'echo began')).toContain('began')
          expect(await server.request('GET', `/kv/${NAME}`).catch((error: Error) => error.message)).toContain('404')
        }
        expect(tokens).toEqual([...new Set(tokens)].sort((one, other) => Number(one - other)))
      })
    })

    it('is not granted during the lock-delay of a command whose session has ended', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const body = JSON.stringify({ LockDelay: '4s', TTL: '10s' })
        const { ID } = (await server.request('PUT', '/session/create', { body })) as { ID: string }
        await server.request('PUT', `/kv/${NAME}?acquire=${ID}&flags=3304740253564472344`)
        await server.request('PUT', `/session/destroy/${ID}`)
        const player = scene.player('ours', scene.store([server], { prefix: '' }), { name: NAME })
        expect(await player.lease.acquire()).toBe(false)
        expect(await player.lease.acquire(FOREVER)).toBe(true)
      })
    })

    it('is refused where the key is a semaphore or holds other data', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        await server.request('PUT', `/kv/${NAME}`, { body: 'other data' })
        const player = scene.player('ours', scene.store([server], { prefix: '' }), { name: NAME })
        await expect(player.lease.acquire()).rejects.toMatchObject({
          code: 'configuration',
          message: expect.stringContaining('holds other data'),
        })
      })
    })

    it('of another program cannot be broken: its session has to end', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const command = server.command('lock', 'deploy', 'sleep 1')
        await eventually('the command holds the lock', () => isHeld(server))
        const store = scene.store([server], { prefix: '' })
        await expect(store.break(NAME, { period: 0 }, never)).rejects.toMatchObject({ code: 'conflict' })
        await command
      })
    })
  })
})
