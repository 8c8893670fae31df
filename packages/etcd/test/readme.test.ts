import { LeaseLostError } from '@leasehold/core'
import { EtcdClient, EtcdGuard } from '@leasehold/etcd'
import { turnsOf } from '@leasehold/testing'
import { describeEtcd } from '@leasehold/testing/describe-etcd'
import { EtcdServer } from '@leasehold/testing/etcd-server'
import { Etcd3 } from 'etcd3'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { rebuildWith } from './readme/own-etcd3.js'
import { rebuildOnce } from './readme/rebuild-index.js'
import { withdraw } from './readme/transfer.js'
import { warmUp } from './support/scene.js'

const firstLease = new URL('./readme/first-lease.mjs', import.meta.url)

describeEtcd('the examples of the documents', () => {
  let server: EtcdServer

  beforeAll(async () => {
    server = await EtcdServer.start()
    await warmUp(server)
  })

  afterAll(() => server.stop())

  const read = async (key: string) => (await server.ctl('get', key, '--print-value-only')).trimEnd()

  it('gives two processes with the first program of the guide their turns', async () => {
    expect(new Set(await turnsOf(firstLease, { ETCD_URL: server.url })).size).toBe(2)
  })

  it('writes under the lease and the guard', async () => {
    await rebuildOnce([server.url], async () => 'first')
    await rebuildOnce([server.url], async () => 'second')
    expect(await read('index/latest')).toBe('second')
    expect(JSON.parse(await read('leasehold/index'))).toMatchObject({ state: 'available' })
  })

  it('uses the Etcd3 object of the service', async () => {
    const etcd3 = new Etcd3({ hosts: server.url })
    await rebuildWith(etcd3, async () => 'third')
    expect(await etcd3.get('index/latest').string()).toBe('third')
    etcd3.close()
  })

  it('runs a transaction under the guard', async () => {
    const client = new EtcdClient({ endpoints: [server.url] })
    const guard = new EtcdGuard(client)
    await guard.write('account/balance', 5n, '10')
    expect(await withdraw(guard, 5n, '10', '7')).toBe(true)
    expect(await withdraw(guard, 5n, '10', '4')).toBe(false)
    await expect(withdraw(guard, 4n, '7', '0')).rejects.toBeInstanceOf(LeaseLostError)
    expect([await read('account/balance'), await read('account/last')]).toEqual(['7', 'from 10 to 7'])
    client.close()
  })
})
