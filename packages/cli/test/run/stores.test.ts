import { tmpdir } from 'node:os'
import { ConsulServer } from '@leasehold/testing/consul-server'
import { describeConsul } from '@leasehold/testing/describe-consul'
import { describeEtcd } from '@leasehold/testing/describe-etcd'
import { describeNats } from '@leasehold/testing/describe-nats'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { EtcdServer } from '@leasehold/testing/etcd-server'
import { NatsServer } from '@leasehold/testing/nats-server'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { RedisServer } from '@leasehold/testing/redis-server'
import { afterAll, beforeAll, expect, it, type TestContext } from 'vitest'
import { leaseFolder, leasehold, start, written } from '../support/leasehold-program.js'

interface TestServer {
  stop(): Promise<void>
}

/** A kind of store, on a real server. */
interface ServedStore {
  readonly kind: string
  readonly describe: (title: string, tests: () => void) => void
  /** The server, and the URL of the store on it. */
  readonly serve: () => Promise<readonly [TestServer, string]>
}

const stores: readonly ServedStore[] = [
  {
    kind: 'redis',
    describe: describeRedis,
    serve: async () => {
      const server = await RedisServer.start()
      return [server, `redis://127.0.0.1:${server.port}`]
    },
  },
  {
    kind: 'postgres',
    describe: describePostgres,
    serve: async () => {
      const server = await PostgresServer.start()
      const early = await leasehold(['status', 'x', '--store', server.url], { folder: tmpdir() })
      expect(early).toMatchObject({
        code: 78,
        errors: expect.stringContaining("run 'leasehold migrate' with the same store"),
      })
      const args = ['migrate', '--store', server.url]
      const { code, output, errors } = await leasehold(args, { folder: tmpdir() })
      expect({ code, output, errors }).toEqual({ code: 0, output: 'the postgres store is set up\n', errors: '' })
      return [server, server.url]
    },
  },
  {
    kind: 'etcd',
    describe: describeEtcd,
    serve: async () => {
      const server = await EtcdServer.start()
      return [server, `etcd://127.0.0.1:${server.port}`]
    },
  },
  {
    kind: 'consul',
    describe: describeConsul,
    serve: async () => {
      const server = await ConsulServer.start()
      // An expired lease is free after three ttls: ten seconds each, unless a shorter one is allowed.
      return [server, `consul://127.0.0.1:${server.port}?min-ttl=4s`]
    },
  },
  {
    kind: 'nats',
    describe: describeNats,
    serve: async () => {
      const server = await NatsServer.start()
      return [server, server.url]
    },
  },
]

for (const { kind, describe, serve } of stores) {
  describe(`leasehold on ${kind}`, () => {
    let server: TestServer
    let url: string
    beforeAll(async () => {
      ;[server, url] = await serve()
    })
    afterAll(() => server.stop())

    /** Runs a command line on the store. */
    function run(test: TestContext, line: string, ...rest: string[]) {
      return leasehold([...line.split(' '), '--store', url, ...rest], { folder: leaseFolder(test) })
    }

    async function records(test: TestContext, line: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
      const { code, output, errors } = await run(test, line, '--output', 'json')
      test.expect({ code, errors }).toEqual({ code: 0, errors: '' })
      return JSON.parse(output)
    }

    /** `leasehold run` whose command holds the lease until it is ended. */
    async function held(test: TestContext, name: string) {
      const args = ['run', name, '--owner', 'first', '--store', url, '--', 'sh', '-c', 'echo held; exec sleep 60']
      const holder = start(args, { folder: leaseFolder(test) })
      test.onTestFinished(() => void holder.child.kill())
      await written(holder, /held/)
      return holder
    }

    it.concurrent('runs a command, one after the other, with growing tokens', async (test) => {
      const script = 'echo "$LEASEHOLD_NAME $LEASEHOLD_FENCING_TOKEN"; exit 3'
      const both = await Promise.all([
        run(test, 'run jobs/turn --quiet', '--', 'sh', '-c', script),
        run(test, 'run jobs/turn --quiet', '--', 'sh', '-c', script),
      ])
      test.expect(both.map(({ code, errors }) => ({ code, errors }))).toEqual([
        { code: 3, errors: '' },
        { code: 3, errors: '' },
      ])
      const tokens = both.map(({ output }) => /^jobs\/turn (\d+)\n$/.exec(output)?.[1])
      test.expect(new Set(tokens).size).toBe(2)
    })

    it.concurrent('refuses a second one while the first holds the lease, and shows the holder', async (test) => {
      const holder = await held(test, 'jobs/busy')
      test
        .expect(await run(test, 'run jobs/busy --try', '--', 'echo', 'started'))
        .toMatchObject({ code: 75, output: '' })
      test
        .expect(await records(test, 'list jobs/busy'))
        .toEqual([test.expect.objectContaining({ name: 'jobs/busy', state: 'leased', owner: 'first' })])
      const [shown] = await records(test, 'status jobs/busy')
      test
        .expect(shown)
        .toMatchObject({ state: 'leased', owner: 'first', fencingToken: test.expect.stringMatching(/^\d+$/) })
      const watched = await run(test, 'watch jobs/busy --lines 1')
      test
        .expect(watched)
        .toMatchObject({ code: 0, output: test.expect.stringContaining('\tjobs/busy\tleased\tfirst\t') })
      holder.child.kill('SIGTERM')
      test.expect(await holder.ended).toMatchObject({ signal: 'SIGTERM' })
      test.expect(await records(test, 'list jobs/busy --held')).toEqual([])
    })

    it.concurrent('breaks a lease, whose command ends', async (test) => {
      const holder = await held(test, 'jobs/broken')
      const broken = await run(test, 'break jobs/broken --yes --period 0s --reason stuck')
      test.expect(broken).toMatchObject({ code: 0, output: 'jobs/broken is broken, and free now\n', errors: '' })
      const ended = await holder.ended
      test.expect(ended.code).toBe(79)
      test.expect(ended.errors).toContain("the lease 'jobs/broken' was lost (broken)")
    })

    it.concurrent('releases the grant of a holder that was killed, and no other', async (test) => {
      const holder = await held(test, 'jobs/killed')
      holder.child.kill('SIGKILL')
      await holder.ended
      const [shown] = await records(test, 'status jobs/killed')
      const refused = await run(test, 'release jobs/killed --grant 4bd0c0a4-3f0b-4f7a-8a35-0a0a6a1b4d11')
      test.expect(refused).toMatchObject({ code: 1, errors: test.expect.stringContaining('is not in force') })
      test.expect(await records(test, 'list jobs/killed --held')).toHaveLength(1)
      const released = await run(test, `release jobs/killed --grant ${shown?.grantId}`)
      test.expect(released).toMatchObject({ code: 0, output: 'jobs/killed is released\n', errors: '' })
      test.expect(await records(test, 'list jobs/killed --held')).toEqual([])
    })

    it.concurrent('verifies the laws of a family', async (test) => {
      const { code, output, errors } = await run(test, 'verify --family fencing --output json')
      test.expect(JSON.parse(output)).toMatchObject({ store: kind, broken: 0 })
      test.expect(JSON.parse(output).kept).toBeGreaterThan(3)
      test.expect(code, errors).toBe(0)
    })
  })
}
