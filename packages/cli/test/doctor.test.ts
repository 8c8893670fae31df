import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, temporaryFolder } from '@leasehold/testing'
import { ConsulServer } from '@leasehold/testing/consul-server'
import { describeConsul } from '@leasehold/testing/describe-consul'
import { describeEtcd } from '@leasehold/testing/describe-etcd'
import { describeNats } from '@leasehold/testing/describe-nats'
import { describePgBouncer, describePostgres } from '@leasehold/testing/describe-postgres'
import { describeRedis, describeValkey } from '@leasehold/testing/describe-redis'
import { EtcdServer } from '@leasehold/testing/etcd-server'
import { NatsServer } from '@leasehold/testing/nats-server'
import { PgBouncer } from '@leasehold/testing/pg-bouncer'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { valkeyProgram } from '@leasehold/testing/redis-program'
import { RedisServer, type RedisServerOptions } from '@leasehold/testing/redis-server'
import { s3Bucket, s3rver } from '@leasehold/testing/s3-bucket'
import { Kvm } from '@nats-io/kv'
import { connect } from '@nats-io/transport-node'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ACCOUNT, Azurite } from '../../azure-blob/test/support/azurite.js'
import { kubeConfigFor } from '../../kubernetes/test/support/kube-config-for.js'
import { startServer } from '../../kubernetes/test/support/open-store.js'
import { configFile, configOfStore } from './support/config-file.js'
import { TestTerminal } from './support/test-terminal.js'

interface Examined {
  readonly code: number
  readonly errors: string
  /** The checks that are not ok: `check: result`. */
  readonly troubles: readonly string[]
  /** Everything that was found, and what to change. */
  readonly text: string
}

/** What `leasehold doctor` says of a store, with its JSON. */
async function examine(...words: readonly string[]): Promise<Examined> {
  const { code, output, errors } = await new TestTerminal().run(['doctor', ...words, '-o', 'json'])
  if (output === '') return { code, errors, troubles: [], text: errors }
  const { checks, fit } = JSON.parse(output) as {
    readonly fit: boolean
    readonly checks: readonly { check: string; result: string }[]
  }
  expect(fit).toBe(code === 0)
  const troubles = checks.filter(({ result }) => result !== 'ok').map(({ check, result }) => `${check}: ${result}`)
  return { code, errors, troubles, text: output }
}

async function redis(options?: RedisServerOptions): Promise<RedisServer> {
  const server = await RedisServer.start(options)
  onTestFinished(() => server.stop())
  return server
}

async function postgres(): Promise<PostgresServer> {
  const server = await PostgresServer.start({ settings: { fsync: 'on', full_page_writes: 'on' } })
  onTestFinished(() => server.stop())
  expect(await new TestTerminal().run(['migrate', '--store', server.url])).toMatchObject({ code: 0 })
  return server
}

const fit = { code: 0, troubles: [] }

describe('leasehold doctor', () => {
  it('prints each check with its result, and a summary', async () => {
    const { code, output, errors } = await new TestTerminal().run('doctor local:')
    expect(code).toBe(0)
    expect(output.split('\n')).toContain('exclusive grants\tok\t')
    expect(errors).toMatch(
      /^leasehold: the local store is fit for leases: \d+ ok, 0 warnings, 0 failed, 0 not known, in .+\n$/,
    )
  })

  it('leaves no lease behind, and can run several times at once', async () => {
    const terminal = new TestTerminal()
    const ended = await Promise.all(['', '', ''].map(() => terminal.run('doctor')))
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0])
    expect((await terminal.run('list --held')).output).toBe('')
  })

  it('finds a store that grants a lease twice, says what to do, and ends with 1', async () => {
    const { code, output, errors } = await new TestTerminal().run(['doctor', '-c', configOfStore('generous-lease')])
    expect(code).toBe(1)
    expect(output).toContain('exclusive grants\tfailed\ta lease that was held was granted to a second owner\n')
    expect(output).toContain('\nexclusive grants: do not use this store')
    expect(errors).toContain('is not fit for leases')
  })

  it('finds a register that ignores conditional writes', async () => {
    const { code, text } = await examine('-c', configOfStore('lying-lease'))
    expect(code).toBe(1)
    expect(text).toContain('it replaces an entry although the given version is not the last one')
  })

  it('names the condition that an S3 ignores', async () => {
    const bucket = await s3Bucket(s3rver)
    const { code, troubles, text } = await examine('-c', configOfStore('s3-lease', { bucket }))
    expect({ code, troubles }).toEqual({ code: 1, troubles: ['conditional creation: failed'] })
    expect(text).toContain('use a service that keeps this condition (If-None-Match over HTTP)')
  })

  it('says of a store that does not answer what other commands say', async () => {
    const { code, output, errors } = await new TestTerminal().run(['doctor', '-c', configOfStore('dead-lease')])
    expect({ code, output, errors }).toEqual({ code: 69, output: '', errors: 'leasehold: there is no server\n' })
  })

  it('takes the store as an operand, or by an option, not both', async () => {
    const { code, errors } = await new TestTerminal().run('doctor memory: --store memory:')
    expect([code, errors]).toEqual([64, expect.stringContaining('the store is given twice')])
  })

  it.each(['memory:', 'local:'])('raises no false alarm on %s', async (url) => {
    expect(await examine(url)).toMatchObject(fit)
  })
})

describeRedis('leasehold doctor on Redis', () => {
  it('raises no false alarm', async () => {
    expect(await examine((await redis({ args: ['--appendonly', 'yes'] })).url)).toMatchObject(fit)
  })

  it('names an evicting policy', async () => {
    const { url } = await redis({
      args: ['--maxmemory', '100mb', '--maxmemory-policy', 'volatile-lru', '--appendonly', 'yes'],
    })
    const { code, troubles, text } = await examine(url)
    expect({ code, troubles }).toEqual({ code: 1, troubles: ['eviction: failed'] })
    expect(text).toContain('set maxmemory-policy to noeviction')
  })

  it('names a replica', async () => {
    const master = await redis()
    const replica = await redis({ args: ['--replicaof', '127.0.0.1', String(master.port)] })
    await eventually('it follows', async () =>
      String(await replica.command('INFO', 'replication')).includes('role:slave'),
    )
    const { code, text } = await examine(replica.url)
    expect([code, text]).toEqual([1, expect.stringContaining('the server is a replica, and read-only')])
  })

  it('names the rights that a user lacks', async () => {
    const server = await redis({ args: ['--appendonly', 'yes'] })
    await server.command('ACL', 'SETUSER', 'app', 'on', '>pw', '~*', '&*', '+@all', '-hset')
    const { code, text } = await examine(`redis://app:pw@127.0.0.1:${server.port}`)
    expect([code, text]).toEqual([1, expect.stringContaining('+hset')])
  })

  it('says of a wrong password, and of a server that is down, what other commands say', async () => {
    const server = await redis({ password: 'right' })
    const wrong = await examine(`redis://:wrong@127.0.0.1:${server.port}`)
    expect([wrong.code, wrong.errors]).toEqual([77, expect.stringContaining('check the username and the password')])
    await server.kill()
    expect((await examine(server.url)).code).toBe(69)
  })
})

describeValkey('leasehold doctor on Valkey', () => {
  const keeping = { program: valkeyProgram, args: ['--appendonly', 'yes'] }

  it('raises no false alarm', async () => {
    expect(await examine((await redis(keeping)).url)).toMatchObject(fit)
  })

  it.each(['allkeys-lru', 'volatile-ttl'])('names the evicting policy %s', async (policy) => {
    const evicting = ['--maxmemory', '100mb', '--maxmemory-policy', policy]
    const { code, troubles, text } = await examine(
      (await redis({ ...keeping, args: [...keeping.args, ...evicting] })).url,
    )
    expect({ code, troubles }).toEqual({ code: 1, troubles: ['eviction: failed'] })
    expect(text).toContain(`maxmemory-policy is ${policy}`)
  })
})

describePostgres('leasehold doctor on PostgreSQL', () => {
  it('raises no false alarm', async () => {
    expect(await examine((await postgres()).url)).toMatchObject(fit)
  })

  it('names a standby, a missing migration and a missing right', async () => {
    const server = await postgres()
    const standby = await server.standby({ settings: { fsync: 'on', full_page_writes: 'on' } })
    onTestFinished(() => standby.stop())
    const replica = await examine(standby.url)
    expect([replica.code, replica.text]).toEqual([1, expect.stringContaining('the server is a standby')])
    await server.query('CREATE ROLE app LOGIN; GRANT USAGE ON SCHEMA leasehold TO app')
    const denied = await examine(server.url.replace(`${server.user}@`, 'app@'))
    expect([denied.code, denied.text]).toEqual([1, expect.stringContaining('SELECT, INSERT, UPDATE and DELETE')])
    const missing = await examine(`${server.url}`, '-c', '/nowhere').catch(() => ({ code: 64 }))
    expect(missing.code).toBe(64)
    await server.query('DROP SCHEMA leasehold CASCADE')
    const empty = await examine(server.url)
    expect([empty.code, empty.text]).toEqual([
      1,
      expect.stringContaining("run 'leasehold migrate' with the same store"),
    ])
  })
})

describePgBouncer('leasehold doctor behind a PgBouncer', () => {
  it('names statement mode', async () => {
    const bouncer = await PgBouncer.start(await postgres(), { poolMode: 'statement' })
    onTestFinished(() => bouncer.stop())
    const { code, troubles, text } = await examine(bouncer.url)
    expect({ code, troubles }).toEqual({ code: 0, troubles: ['transactions: warning', 'notifications: warning'] })
    expect(text).toContain('pool_mode')
  })
})

describeEtcd('leasehold doctor on etcd', () => {
  it('raises no false alarm, and names a member without fsync', async () => {
    const server = await EtcdServer.start({ args: ['--unsafe-no-fsync=false'] })
    onTestFinished(() => server.stop())
    expect(await examine(server.url.replace('http:', 'etcd:'))).toMatchObject(fit)
    const unsafe = await EtcdServer.start()
    onTestFinished(() => unsafe.stop())
    const { code, troubles } = await examine(unsafe.url.replace('http:', 'etcd:'))
    expect({ code, troubles }).toEqual({ code: 1, troubles: ['fsync: failed'] })
  })
})

describeConsul('leasehold doctor on Consul', () => {
  it('raises no false alarm', async () => {
    const server = await ConsulServer.start()
    onTestFinished(() => server.stop())
    expect(await examine(server.url.replace('http:', 'consul:'))).toMatchObject(fit)
  })
})

describeNats('leasehold doctor on NATS', () => {
  it('raises no false alarm, and names a bucket that forgets', async () => {
    const server = await NatsServer.start()
    onTestFinished(() => server.stop())
    expect(await examine(server.url)).toMatchObject(fit)
    const connection = await connect({ servers: server.url })
    onTestFinished(() => connection.close())
    await new Kvm(connection).create('short', { ttl: 600_000 })
    const { code, text } = await examine(`${server.url}?bucket=short`)
    expect(code).toBe(1)
    expect(text).toContain("run 'nats stream edit KV_short --max-age=0'")
  })
})

describe('leasehold doctor on Azure Blob Storage', () => {
  it('raises no false alarm', async () => {
    const azurite = await Azurite.start()
    onTestFinished(() => azurite.stop())
    const connection = JSON.stringify(azurite.connectionString())
    const config = configFile(`leasehold.lease {
      lease-class = "@leasehold/azure-blob", heartbeat-timeout = 30s, connection-string = ${connection}
    }`)
    const { code, troubles, text } = await examine('-c', config)
    expect({ code, text, troubles }).toMatchObject({ text: expect.anything(), code: 0, troubles: ['expiry: unknown'] })
    expect(text).not.toContain(ACCOUNT)
  })
})

describe('leasehold doctor on Kubernetes', () => {
  async function kubernetes(verbs?: readonly string[]): Promise<string> {
    const server = await startServer()
    if (verbs !== undefined) server.tokens.set('limited', [...verbs])
    const file = join(temporaryFolder(), 'kubeconfig')
    const config = await kubeConfigFor(server.port, ...(verbs === undefined ? [] : ['limited']))
    writeFileSync(file, config.exportConfig())
    return `kubernetes:?kubeconfig-file=${file}`
  }

  it('raises no false alarm', async () => {
    expect(await examine(await kubernetes())).toMatchObject(fit)
  })

  it('names the verb that a service account lacks', async () => {
    const { code, text } = await examine(await kubernetes(['get', 'create', 'watch']))
    expect(code).not.toBe(0)
    expect(text).toContain('lacks the verbs update')
  })
})
