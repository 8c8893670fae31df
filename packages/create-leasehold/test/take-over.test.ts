import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConsulServer } from '@leasehold/testing/consul-server'
import { describeConsul } from '@leasehold/testing/describe-consul'
import { describeEtcd } from '@leasehold/testing/describe-etcd'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { EtcdServer } from '@leasehold/testing/etcd-server'
import { freePort } from '@leasehold/testing/free-port'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { RedisServer } from '@leasehold/testing/redis-server'
import { afterAll, beforeAll, describe } from 'vitest'
import { Azurite } from '../../azure-blob/test/support/azurite.js'
import { TestApiServer } from '../../kubernetes/test/support/api-server/test-api-server.js'
import { kubeConfigFor } from '../../kubernetes/test/support/kube-config-for.js'
import { describeService } from './support/describe-service.js'

/** Starts the server of a suite before its tests; returns a function that returns it. */
function serverOf<S extends { stop(): Promise<void> }>(start: () => Promise<S>): () => S {
  let server: S | undefined
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server?.stop())
  return () => {
    if (server === undefined) throw new Error('the server has not started')
    return server
  }
}

// Most of the time, they wait for a lease to expire: that of one store, while those of the others do.
describe('a service that was written,', { concurrent: true }, () => {
  describe('with a folder:', () => describeService('local', { right: () => ({}) }))

  describeRedis('with Redis:', () => {
    const server = serverOf(() => RedisServer.start({ password: 'right' }))
    describeService('redis', {
      advice: /Start Redis: docker compose up -d\. Or set REDIS_URL/,
      right: () => ({ REDIS_URL: server().url }),
      down: async () => ({ REDIS_URL: `redis://127.0.0.1:${await freePort()}` }),
      wrongPassword: () => ({ REDIS_URL: server().url.replace('right', 'wrong') }),
    })
  })

  describePostgres('with PostgreSQL:', () => {
    const server = serverOf(() => PostgresServer.start({ password: 'right' }))
    describeService('postgres', {
      advice: /Start PostgreSQL: docker compose up -d\. Or set DATABASE_URL/,
      right: () => ({ DATABASE_URL: server().url }),
      down: async () => ({ DATABASE_URL: `postgres://127.0.0.1:${await freePort()}/postgres` }),
      wrongPassword: () => ({ DATABASE_URL: server().url.replace(':right@', ':wrong@') }),
    })
  })

  describeEtcd('with etcd:', () => {
    const server = serverOf(async () => {
      const started = await EtcdServer.start()
      await started.ctl('user', 'add', 'root:right')
      await started.ctl('user', 'grant-role', 'root', 'root')
      await started.ctl('auth', 'enable')
      return started
    })
    const access = (password: string) => ({
      ETCD_ENDPOINTS: server().url,
      ETCD_USERNAME: 'root',
      ETCD_PASSWORD: password,
    })
    describeService('etcd', {
      advice: /Start etcd: docker compose up -d\. Or set ETCD_ENDPOINTS/,
      right: () => access('right'),
      down: async () => ({ ETCD_ENDPOINTS: `http://127.0.0.1:${await freePort()}` }),
      wrongPassword: () => access('wrong'),
    })
  })

  describeConsul('with Consul:', () => {
    const acl = { enabled: true, default_policy: 'deny', tokens: { master: 'right', agent: 'right' } }
    const server = serverOf(() => ConsulServer.start({ config: { acl }, token: 'right' }))
    describeService('consul', {
      advice: /Start Consul: docker compose up -d\. Or set CONSUL_HTTP_ADDR/,
      right: () => ({ CONSUL_HTTP_ADDR: server().url, CONSUL_HTTP_TOKEN: 'right' }),
      down: async () => ({ CONSUL_HTTP_ADDR: `127.0.0.1:${await freePort()}` }),
      wrongPassword: () => ({ CONSUL_HTTP_ADDR: server().url, CONSUL_HTTP_TOKEN: 'wrong' }),
      refused: /Check the ACL token: it needs key:write/,
    })
  })

  describe('with an API server of the tests:', () => {
    const server = serverOf(() => TestApiServer.start())
    const folder = mkdtempSync(join(tmpdir(), 'leasehold-kubeconfigs-'))
    afterAll(() => rmSync(folder, { recursive: true, force: true }))

    async function kubeconfig(name: string, port: number, token?: string) {
      const file = join(folder, name)
      writeFileSync(file, (await kubeConfigFor(port, token)).exportConfig())
      return { KUBECONFIG: file }
    }

    describeService('kubernetes', {
      advice: /Apply the permissions: kubectl apply -f kubernetes\.yaml/,
      right: () => kubeconfig('right', server().port),
      down: async () => kubeconfig('down', await freePort()),
      wrongPassword: () => kubeconfig('wrong', server().port, 'wrong'),
      refused: /401|Unauthorized|credentials/,
    })
  })

  describe('with Azurite:', () => {
    const server = serverOf(() => Azurite.start())
    const variables = (AZURE_STORAGE_CONNECTION_STRING: string) => ({ AZURE_STORAGE_CONNECTION_STRING })
    describeService('azure-blob', {
      advice: /Start Azurite: docker compose up -d\. Or set AZURE_STORAGE_CONNECTION_STRING/,
      right: () => variables(server().connectionString()),
      down: async () => variables(server().connectionString(await freePort())),
      wrongPassword: () => variables(server().connectionString().replace('AccountKey=E', 'AccountKey=F')),
      refused: /403|account key|credential/i,
    })
  })
})
