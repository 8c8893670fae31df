import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { eventually } from '@leasehold/testing'
import { describeEtcd } from '@leasehold/testing/describe-etcd'
import { EtcdServer, etcdctl } from '@leasehold/testing/etcd-server'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { Scene, warmUp } from './support/scene.js'

/** Takes a lock by `etcdctl`, as Go's `concurrency.Mutex` or `concurrency.Election` does, until `release`. */
async function startEtcdctl(server: EtcdServer, ...args: readonly string[]) {
  const child = spawn(etcdctl, [`--endpoints=${server.url}`, ...args], { env: { ETCDCTL_API: '3' } })
  let output = ''
  child.stdout.on('data', (text) => {
    output += String(text)
  })
  return {
    /** What it has printed: the key of the lock, when it has it. */
    output: () => output,
    release: async () => {
      child.kill('SIGINT')
      await once(child, 'exit')
    },
  }
}

describeEtcd('the locks of other clients of etcd', () => {
  let server: EtcdServer

  beforeAll(async () => {
    server = await EtcdServer.start()
    await warmUp(server)
  })

  afterAll(() => server.stop())

  describe.concurrent.each([
    ['etcdctl lock', ['lock', 'leasehold/by-lock'], 'by-lock'],
    ['etcdctl elect', ['elect', 'leasehold/by-elect', 'candidate'], 'by-elect'],
  ])('%s', (_, args, name) => {
    it('excludes the lease of the same name, and the lease excludes it', ({ expect }) =>
      Scene.play(async (scene) => {
        const store = scene.store(server)
        const first = await startEtcdctl(server, ...args)
        await eventually('etcdctl has the lock', async () => first.output() !== '')
        const refused = await store.acquire(claimOf('ours', { name }), never)
        expect(refused).toMatchObject({ granted: false, holder: { owner: '', grantId: '', state: 'leased' } })
        const lease = scene.player('waiter', store, { name }).lease
        const waiting = lease.acquire({ wait: Number.POSITIVE_INFINITY })
        await eventually('the waiter has its place', async () => {
          return (
            (await server.ctl('get', '--prefix', '--keys-only', `leasehold/${name}/`)).trim().split('\n\n').length >= 2
          )
        })
        const second = await startEtcdctl(server, ...args)
        await eventually('etcdctl stands in line', async () => {
          return (await server.ctl('get', '--prefix', '--keys-only', `leasehold/${name}/`)).split('/').length > 6
        })
        await first.release()
        expect(await waiting).toBe(true)
        expect(second.output()).toBe('')
        await lease.release()
        await eventually('etcdctl has the lock again', async () => second.output() !== '')
        expect(await store.acquire(claimOf('again', { name }), never)).toMatchObject({ granted: false })
        await second.release()
        await granted(store, 'last', { name })
      }))
  })
})
