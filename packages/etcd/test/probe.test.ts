import type { EtcdLeaseStore } from '@leasehold/etcd'
import { describeEtcd } from '@leasehold/testing/describe-etcd'
import { granted, never } from '@leasehold/testing/job-claims'
import { expect, it } from 'vitest'
import { Scene } from './support/scene.js'

/** The findings that are not ok, as `check: result`. */
async function troublesOf(store: EtcdLeaseStore): Promise<string[]> {
  const findings = await store.probe(never)
  return findings.filter(({ result }) => result !== 'ok').map(({ check, result }) => `${check}: ${result}`)
}

describeEtcd('the probe of a cluster', () => {
  it('finds nothing wrong, and writes no key', async () => {
    await Scene.play(async (scene) => {
      const servers = await scene.cluster({ args: ['--unsafe-no-fsync=false'] })
      const store = scene.store(...servers)
      expect(await troublesOf(store)).toEqual([])
      const records: unknown[] = []
      for await (const record of store.list('', never)) records.push(record)
      expect(records).toEqual([])
      await granted(store, 'a')
      expect(await troublesOf(store)).toEqual([])
    })
  })

  it('names a member that does not write to its disk', async () => {
    await Scene.play(async (scene) => {
      const server = await scene.server({ args: ['--unsafe-no-fsync'] })
      const findings = await scene.store(server).probe(never)
      expect(findings).toContainEqual(
        expect.objectContaining({
          check: 'fsync',
          result: 'failed',
          setting: '--unsafe-no-fsync',
          found: expect.stringContaining(server.url),
        }),
      )
    })
  })

  it('rejects when no member answers', async () => {
    await Scene.play(async (scene) => {
      const server = await scene.server()
      const store = scene.store(server)
      await server.kill()
      await expect(store.probe(never)).rejects.toMatchObject({ code: 'unavailable' })
    })
  })
})
