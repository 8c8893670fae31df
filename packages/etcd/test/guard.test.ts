import { getEventListeners } from 'node:events'
import { LeaseConfigurationError, LeaseLostError, LeaseUnavailableError } from '@leasehold/core'
import { EtcdClient, EtcdGuard } from '@leasehold/etcd'
import { describeEtcd } from '@leasehold/testing/describe-etcd'
import { EtcdServer } from '@leasehold/testing/etcd-server'
import { afterAll, beforeAll, expect, it } from 'vitest'

describeEtcd('a guarded transaction', () => {
  let server: EtcdServer
  let client: EtcdClient
  let guard: EtcdGuard

  beforeAll(async () => {
    server = await EtcdServer.start()
    client = new EtcdClient({ endpoints: [server.url] })
    guard = new EtcdGuard(client)
  })

  afterAll(async () => {
    client.close()
    await server.stop()
  })

  const read = async (key: string) => (await server.ctl('get', key, '--print-value-only')).trimEnd()

  it('writes several keys if its conditions hold, and none if one does not', async () => {
    const write = [
      { put: 'balance/a', value: '5' },
      { put: 'balance/b', value: '7' },
    ]
    const isNew = { key: 'balance/a', modRevision: 0n }
    expect(await guard.transact('balance/a', 3n, { when: [isNew], write })).toBe(true)
    expect([await read('balance/a'), await read('balance/b')]).toEqual(['5', '7'])
    const later = [{ put: 'balance/b', value: '9' }]
    expect(await guard.transact('balance/a', 4n, { when: [isNew], write: later })).toBe(false)
    expect(await read('balance/b')).toBe('7')
    expect(await guard.transact('balance/a', 4n, { when: [{ key: 'balance/a', value: '5' }], write: later })).toBe(true)
    expect(await read('balance/b')).toBe('9')
  })

  it('keeps the token of a transaction whose conditions did not hold', async () => {
    await guard.transact('held', 8n, { when: [{ key: 'held', value: 'never' }], write: [] })
    await expect(guard.write('held', 7n, 'old')).rejects.toThrow(LeaseLostError)
  })

  it('compares tokens as numbers, up to the largest of 64 bits', async () => {
    await guard.write('large', 9n, 'a')
    await guard.write('large', 10n, 'b')
    await guard.write('large', 18_446_744_073_709_551_614n, 'c')
    await expect(guard.write('large', 11n, 'd')).rejects.toThrow(LeaseLostError)
    expect(await read('large')).toBe('c')
  })

  it('rejects with a LeaseUnavailableError if the server is not there', async () => {
    const nobody = new EtcdClient({ endpoints: ['http://127.0.0.1:1'] })
    await expect(new EtcdGuard(nobody).write('key', 1n, 'value')).rejects.toThrow(LeaseUnavailableError)
    nobody.close()
  })

  it('rejects with the reason of its signal', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(guard.transact('key', 1n, { write: [] }, { signal })).rejects.toThrow('enough')
  })

  it('adds one listener to a signal that many writes share, and leaves none', async () => {
    const { signal } = new AbortController()
    const writing = Array.from({ length: 20 }, () => guard.transact('shared', 1n, { write: [] }, { signal }))
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    await Promise.all(writing)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('rejects a misspelled option', async () => {
    const misspelled = { write: [], if: [] }
    await expect(guard.transact('key', 1n, misspelled)).rejects.toThrow(LeaseConfigurationError)
  })
})
