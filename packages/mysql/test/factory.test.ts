import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import { LeaseConfigurationError, LeaseProvider, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import { mysqlLease } from '@leasehold/mysql'
import { eventually } from '@leasehold/testing'
import { describeMysql } from '@leasehold/testing/describe-mysql'
import { MysqlServer } from '@leasehold/testing/mysql-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const times = { 'heartbeat-timeout': '10s', 'heartbeat-interval': '2s', 'lease-operation-timeout': '2s' }

describeMysql('a lease of a configuration', (kind) => {
  let server: MysqlServer
  const providers: LeaseProvider[] = []

  beforeAll(async () => {
    server = await MysqlServer.start(kind)
    await server.query("create user 'app'@'%' identified by 'a b''c'")
    await server.query("grant all on test.* to 'app'@'%'")
  })

  afterAll(async () => {
    for (const provider of providers) await provider.close()
    await server.stop()
  })

  function provide(block: object): LeaseProvider {
    const provider = new LeaseProvider({ job: { 'lease-class': 'mysql', ...times, ...block } }, { mysql: mysqlLease })
    providers.push(provider)
    return provider
  }

  async function acquired(block: object): Promise<boolean> {
    return await (await provide(block).getLease(`job ${randomUUID()}`, 'job')).acquire()
  }

  it('is acquired by a URL, with others over one pool, which ends with the provider', async () => {
    const url = `mysql://app:a%20b'c@127.0.0.1:${server.port}/test`
    const provider = provide({ url, table: 'claims', 'pool-size': 2 })
    const leases = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => provider.getLease(name, 'job')))
    expect(await Promise.all(leases.map((lease) => lease.acquire()))).toEqual(leases.map(() => true))
    const open = async () => (await server.query('show processlist')).filter(({ User }) => User === 'app').length
    expect(await open()).toBeLessThanOrEqual(2)
    await provider.close()
    await eventually('all connections have ended', async () => (await open()) === 0)
  })

  it('takes the password and the database beside the URL', async () => {
    const url = `mariadb://app@127.0.0.1:${server.port}`
    expect(await acquired({ url, password: "a b'c", database: 'test' })).toBe(true)
    await expect(acquired({ url, password: 'wrong', database: 'test' })).rejects.toBeInstanceOf(LeaseUnauthorisedError)
  })

  describe('is rejected', () => {
    it.each([
      ['a URL of another kind', { url: 'http://secret@host' }, /url must be like mysql:/],
      ['a URL with parameters', { url: 'mysql://localhost/app?ssl=secret' }, /parameters/],
      ['a CA file that is not there', { 'ca-file': '/nowhere.pem' }, /ca-file cannot be read/],
      ['no connections', { 'pool-size': 0 }, /pool-size/],
      ['a table that needs quotes', { table: 'a b' }, /table must be/],
    ])('with %s', async (_, block, message) => {
      const error = await acquired(block).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(LeaseConfigurationError)
      expect((error as Error).message).toMatch(message)
      expect(inspect(error)).not.toContain('secret')
    })

    it('where there is no server', async () => {
      await expect(acquired({ url: 'mysql://root@127.0.0.1:1/test' })).rejects.toBeInstanceOf(LeaseUnavailableError)
    })
  })
})
