import { createServer, type Socket } from 'node:net'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { LeaseConfigurationError, MemoryGuard } from '@leasehold/core'
import type { FencingGuard, GuardOptions } from '@leasehold/core/store'
import { temporaryFolder } from '@leasehold/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AzureBlobGuard } from '../../packages/azure-blob/src/index.js'
import { ConsulGuard } from '../../packages/consul/src/index.js'
import { DynamodbGuard } from '../../packages/dynamodb/src/index.js'
import { EtcdClient, EtcdGuard } from '../../packages/etcd/src/index.js'
import { KubernetesGuard } from '../../packages/kubernetes/src/index.js'
import { LocalGuard } from '../../packages/local/src/index.js'
import { MysqlGuard } from '../../packages/mysql/src/index.js'
import { NatsGuard } from '../../packages/nats/src/index.js'
import { PostgresGuard } from '../../packages/postgres/src/index.js'
import { RedisGuard } from '../../packages/redis/src/index.js'
import { S3Guard } from '../../packages/s3/src/index.js'
import { packages } from '../workspaces.js'

/** A method of a guard, called with the two arguments that all have, and with options as its last argument. */
type Method = (resource: string, token: bigint | string, options?: GuardOptions) => unknown

/** The guard of a package, with each of its methods that write. */
interface Row {
  readonly guard: FencingGuard
  readonly methods: Readonly<Record<string, Method>>
  /** Its methods are synchronous: no signal can end them. */
  readonly isSynchronous?: true
  /** Ends what the guard was given. */
  end?(): void
}

const never = new Promise<never>(() => {})
const sockets = new Set<Socket>()
/** Accepts connections, and never answers. */
const silent = createServer((socket) => void sockets.add(socket))
let url = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as { port: number }
  url = `http://127.0.0.1:${port}`
})

afterAll(() => {
  for (const socket of sockets) socket.destroy()
  silent.close()
})

/** The guard of each package that has one, over a backend that never answers. */
const rows: Readonly<Record<string, () => Row>> = {
  core: () => {
    const guard = new MemoryGuard()
    return {
      guard,
      isSynchronous: true,
      methods: {
        transact: (resource, token, options) => guard.transact(resource, token, () => {}, options),
        write: (resource, token, options) => guard.write(resource, token, 'v', options),
        delete: (resource, token, options) => guard.delete(resource, token, options),
      },
    }
  },
  local: () => {
    const guard = new LocalGuard({ folder: temporaryFolder() })
    return {
      guard,
      isSynchronous: true,
      methods: { transact: (resource, token, options) => guard.transact(resource, token, () => {}, options) },
    }
  },
  redis: () => {
    const client = { options: {}, duplicate: () => {}, disconnect: () => {}, evalsha: () => never, eval: () => never }
    const guard = new RedisGuard(client as never)
    return {
      guard,
      methods: {
        transact: (resource, token, options) => guard.transact(resource, token, { script: 'return 1' }, options),
        write: (resource, token, options) => guard.write(resource, token, 'v', options),
        delete: (resource, token, options) => guard.delete(resource, token, options),
      },
    }
  },
  postgres: () => {
    const guard = new PostgresGuard()
    const tx = () => never
    return {
      guard,
      methods: {
        transact: (resource, token, options) => guard.transact(resource, token, tx, options),
        transactRows: (resource, token, options) =>
          guard.transactRows(resource, token, tx, isPlain(options) ? { where: { id: 1 }, ...options } : options),
        transactUnderLease: (resource, token, options) => guard.transactUnderLease(resource, token, tx, options),
      },
    }
  },
  mysql: () => {
    const guard = new MysqlGuard()
    const tx = () => never
    return {
      guard,
      methods: {
        transact: (resource, token, options) => guard.transact(resource, token, tx, options),
        // The name of a table, which has no slashes.
        transactRows: (resource, token, options) =>
          guard.transactRows(
            typeof resource === 'string' ? resource.replaceAll('/', '_') : resource,
            token,
            tx,
            isPlain(options) ? { where: { id: 1 }, ...options } : options,
          ),
        transactUnderLease: (resource, token, options) => guard.transactUnderLease(resource, token, tx, options),
      },
    }
  },
  etcd: () => {
    const client = new EtcdClient({ endpoints: [url] })
    const guard = new EtcdGuard(client)
    return {
      guard,
      end: () => client.close(),
      methods: {
        transact: (resource, token, options) => guard.transact(resource, token, { write: [] }, options),
        write: (resource, token, options) => guard.write(resource, token, 'v', options),
        delete: (resource, token, options) => guard.delete(resource, token, options),
      },
    }
  },
  nats: () => {
    const guard = new NatsGuard({ servers: [url] }, { bucket: 'data' })
    return {
      guard,
      methods: {
        transact: (resource, token, options) => guard.transact(resource, token, () => 'v', options),
        write: (resource, token, options) => guard.write(resource, token, 'v', options),
        delete: (resource, token, options) => guard.delete(resource, token, options),
      },
    }
  },
  consul: () => {
    const guard = new ConsulGuard({ addresses: [url] })
    return {
      guard,
      methods: {
        transact: (resource, token, options) => guard.transact(resource, token, [], options),
        write: (resource, token, options) => guard.write(resource, token, 'v', options),
        delete: (resource, token, options) => guard.delete(resource, token, options),
      },
    }
  },
  kubernetes: () => {
    const kubeConfig = {
      getCurrentCluster: () => ({ server: url.replace('http:', 'https:') }),
      getCurrentContext: () => 'test',
      getContextObject: () => null,
      applyToHTTPSOptions: async () => {},
    }
    const guard = new KubernetesGuard({ kubeConfig, namespace: 'default' })
    return {
      guard,
      methods: {
        transact: (resource, token, options) => guard.transact(resource, token, (object) => ({ ...object }), options),
        write: (resource, token, options) => guard.write(resource, token, { data: {} }, options),
      },
    }
  },
  s3: () => {
    const guard = new S3Guard({
      bucket: 'data',
      endpoint: url,
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    })
    return {
      guard,
      methods: {
        transact: (resource, token, options) => guard.transact(resource, token, () => ({}), options),
        write: (resource, token, options) => guard.write(resource, token, {}, options),
        delete: (resource, token, options) => guard.delete(resource, token, options),
      },
    }
  },
  dynamodb: () => {
    const client = new DynamoDBClient({
      endpoint: url,
      region: 'us-east-1',
      credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
    })
    const guard = new DynamodbGuard(client)
    const put = { TableName: 't', Item: { id: { S: 'a' } } }
    return {
      guard,
      methods: {
        transact: (resource, token, options) => guard.transact(resource, token, [{ Put: put }], options),
        write: (resource, token, options) => guard.write(resource, token, put, options),
      },
      end: () => client.destroy(),
    }
  },
  'azure-blob': () => {
    const guard = new AzureBlobGuard({ getBlockBlobClient: silentBlob } as never)
    return {
      guard,
      methods: {
        transact: (resource, token, options) => guard.transact(resource, token, async () => {}, options),
        write: (resource, token, options) => guard.write(resource, token, 'v', options),
        delete: (resource, token, options) => guard.delete(resource, token, options),
      },
    }
  },
}

/** A client of a blob whose requests end by their signal only, as those of the SDK do. */
function silentBlob(name: string): object {
  const getProperties = ({ abortSignal }: { abortSignal?: AbortSignal }) =>
    new Promise((_, reject) => {
      const abort = () => reject(new DOMException('The operation was aborted.', 'AbortError'))
      abortSignal?.addEventListener('abort', abort)
    })
  return { name, url: `${url}/${name}`, getProperties }
}

function isPlain(options: unknown): options is GuardOptions | undefined {
  return options === undefined || Object.getPrototypeOf(options) === Object.prototype
}

async function rejectionOf(call: () => unknown): Promise<unknown> {
  try {
    await call()
  } catch (error) {
    return error
  }
  return expect.fail('it was not rejected')
}

/** The members that the shape of guards has; others of a guard are variants of `transact`. */
const shape: Readonly<Record<keyof Required<FencingGuard> | 'read', true>> = {
  transact: true,
  write: true,
  delete: true,
  close: true,
  read: true,
}

/** A resource that every guard accepts. */
const RESOURCE = 'v1/configmaps/report'

/** Wrong arguments in JavaScript, and the words with which every guard refuses them. */
const wrong: readonly (readonly [string, readonly unknown[], string])[] = [
  [
    'the token first',
    [5n, RESOURCE],
    'resource must be a text that is not empty, not a bigint: the resource comes first',
  ],
  ['no resource', [undefined, 5n], 'resource must be a text that is not empty, not undefined'],
  ['an empty resource', ['', 5n], "resource must be a text that is not empty, not ''"],
  ['a number', [RESOURCE, 5], 'fencingToken must be a bigint of 0 or more, or the text of its digits, not 5'],
  [
    'a negative token',
    [RESOURCE, -5n],
    'fencingToken must be a bigint of 0 or more, or the text of its digits, not -5',
  ],
  [
    'a bare signal',
    [RESOURCE, 5n, new AbortController().signal],
    'the options of a fencing guard must be an object such as { signal }, not an object',
  ],
  ['a misspelled option', [RESOURCE, 5n, { singal: 1 }], "has no option 'singal': did you mean 'signal'?"],
  ['no signal', [RESOURCE, 5n, { signal: 7 }], 'signal must be an AbortSignal, not 7'],
]

it('every provider has a guard of the same name pattern, with a row in the table of this test', async () => {
  const found: string[] = []
  for (const { id, manifest } of packages()) {
    const entry = manifest.exports?.['.']
    if (typeof entry !== 'object' || entry['@leasehold/source'] === undefined || manifest.bin !== undefined) continue
    const exported = Object.keys((await import(`../../packages/${id}/src/index.ts`)) as object)
    if (!exported.some((name) => /^[A-Z]\w+LeaseStore$/.test(name))) continue
    // Data are not on a quorum: the guard is that of their server, such as RedisGuard.
    if (id === 'redis-quorum') continue
    const guards = exported.filter((name) => /guard|fence/i.test(name))
    const pascal = id === 'core' ? 'Memory' : id.replaceAll(/(?:^|-)([a-z])/g, (_, letter) => letter.toUpperCase())
    expect({ id, guards }).toEqual({ id, guards: [`${pascal}Guard`] })
    found.push(id)
  }
  expect(Object.keys(rows).sort()).toEqual(found.sort())
})

describe.each(Object.entries(rows))('the guard of %s', (_, open) => {
  it('has the members of the shape, each method in the table', async () => {
    const { guard, methods, end } = open()
    const members = Object.getOwnPropertyNames(Object.getPrototypeOf(guard)).filter((name) => name !== 'constructor')
    expect(members).toContain('transact')
    expect(members.filter((name) => !(name in shape) && !/^transact[A-Z]/.test(name))).toEqual([])
    expect(members.filter((name) => name !== 'close' && name !== 'read').sort()).toEqual(Object.keys(methods).sort())
    await guard.close?.()
    end?.()
  })

  it.each(wrong)('takes resource, token, options: refuses %s in the words of all guards', async (_, args, words) => {
    const { guard, methods, end } = open()
    for (const method of Object.values(methods)) {
      const error = await rejectionOf(() => (method as (...args: readonly unknown[]) => unknown)(...args))
      expect(error).toBeInstanceOf(LeaseConfigurationError)
      expect((error as Error).message).toContain(words)
    }
    await guard.close?.()
    end?.()
  })

  it('rejects with the reason of its signal, before the call and during it', { timeout: 15_000 }, async () => {
    const { guard, methods, isSynchronous, end } = open()
    for (const method of Object.values(methods)) {
      const reason = new Error('enough')
      expect(await rejectionOf(() => method(RESOURCE, 5n, { signal: AbortSignal.abort(reason) }))).toBe(reason)
      if (isSynchronous) continue
      const limit = new AbortController()
      const late = rejectionOf(() => method(RESOURCE, 5n, { signal: limit.signal }))
      setTimeout(() => limit.abort(reason), 20)
      expect(await late).toBe(reason)
    }
    await guard.close?.()
    end?.()
  })
})
