import { type CreateLeaseOptions, healthOf, LeaseConfigurationError, type LeaseStore } from '@leasehold/core'
import { checkFault, createLeaseOptionNames, faultOfFlag, faultOfLimit, shownValue } from '@leasehold/core/internal'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store-kit'
import type { FastifyBaseLogger, FastifyInstance, FastifyPluginAsync, RegisterOptions } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { Leases } from './leases.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The leases of this server, from `@leasehold/fastify`. */
    leases: Leases
  }
}

/** The options of the plugin: its own, and the defaults of its leases, in milliseconds. */
export interface FastifyLeasesOptions extends Omit<CreateLeaseOptions, 'logger'> {
  /** The store of the leases. The plugin closes it last, unless `closeStore` is `false`. */
  readonly store: LeaseStore
  /** The property of the Fastify instance; `leases` unless given. For a second store. */
  readonly name?: string | undefined
  /** The path of a health route, such as `/healthz`. No route unless given. */
  readonly health?: string | undefined
  /** For how long closing waits for the work in progress, once for schedules and once for the rest; 10 s unless given. */
  readonly stopTimeout?: number | undefined
  /** Whether the store is closed with the server; `true` unless given. */
  readonly closeStore?: boolean | undefined
  /** Where the plugin and its leases log to; a child of the log of the Fastify instance unless given. */
  readonly log?: FastifyBaseLogger | undefined
}

const { logger: _, ...leaseOptionNames } = createLeaseOptionNames
const optionNames: OptionNames<FastifyLeasesOptions & RegisterOptions> = {
  ...leaseOptionNames,
  store: true,
  name: true,
  health: true,
  stopTimeout: true,
  closeStore: true,
  log: true,
  // The options of `register`.
  prefix: true,
  logLevel: true,
  logSerializers: true,
}

const DEFAULT_STOP_TIMEOUT = 10_000

const register: FastifyPluginAsync<FastifyLeasesOptions> = async (fastify, options) => {
  const { name = 'leases', health: path, log = fastify.log.child({ plugin: name }) } = options
  checkOptions(fastify, name, options)
  const { store, stopTimeout = DEFAULT_STOP_TIMEOUT, closeStore = true } = options
  const defaults = defaultsOf(options)
  const leases = new Leases({ store, stopTimeout, closeStore, log, defaults })
  // Throws now, and not at the first lease.
  leases.lease('leases')
  fastify.decorate<Leases>(name, leases)
  if (path !== undefined) await addHealthRoute(fastify, leases, path, (options as RegisterOptions).prefix)
  fastify.addHook('onListen', async () => leases.start())
  // Requests in progress go on until `onClose`.
  fastify.addHook('preClose', async () => leases.endSchedules())
  fastify.addHook('onClose', async () => await leases.close())
}

/**
 * A plugin for Fastify 5: `fastify.leases` makes leases, schedules and elections that start when the server listens, and end
 * when it closes: first the schedules, then the requests in progress, the elections and other work, the leases, and last the
 * store.
 *
 * `register` fails with a `LeaseConfigurationError` if an option is unknown or invalid, or `name` is in use in this instance.
 */
export const fastifyLeases: FastifyPluginAsync<FastifyLeasesOptions> = fastifyPlugin(register, {
  name: '@leasehold/fastify',
  fastify: '5.x',
})

function checkOptions(fastify: FastifyInstance, name: string, options: FastifyLeasesOptions): void {
  const { store, health: path, stopTimeout = DEFAULT_STOP_TIMEOUT, closeStore } = options
  checkOptionNames<FastifyLeasesOptions>('@leasehold/fastify', options, optionNames)
  if (typeof (Object(store) as Partial<LeaseStore>).acquire !== 'function') {
    throw wrong(`store must be a lease store, such as new RedisLeaseStore(client), not ${shownValue(store)}`)
  }
  if (typeof name !== 'string' || name === '') throw wrong(`name must be a text, not ${shownValue(name)}`)
  if (fastify.hasDecorator(name)) {
    throw wrong(`fastify.${name} exists already: register the plugin once, or give this one another name`)
  }
  if (path !== undefined && !(typeof path === 'string' && path.startsWith('/'))) {
    throw wrong(`health must be a path that begins with '/', such as '/healthz', not ${shownValue(path)}`)
  }
  checkFault(faultOfLimit('stopTimeout', stopTimeout) ?? faultOfFlag('closeStore', closeStore ?? true))
}

function defaultsOf(options: FastifyLeasesOptions): CreateLeaseOptions {
  const names = Object.keys(leaseOptionNames) as (keyof typeof leaseOptionNames)[]
  const given = names.filter((name) => options[name] !== undefined)
  return Object.fromEntries(given.map((name) => [name, options[name]]))
}

/** In a scope of its own, which has the prefix that was given to `register`. */
async function addHealthRoute(
  fastify: FastifyInstance,
  leases: Leases,
  path: string,
  prefix: string | undefined,
): Promise<void> {
  const addRoute: FastifyPluginAsync = async (scope) => {
    // Probes would fill the log.
    scope.get(path, { logLevel: 'warn' }, (_request, reply) => {
      const health = healthOf(leases)
      reply.code(health.healthy ? 200 : 503).send(health)
    })
  }
  await fastify.register(addRoute, prefix === undefined ? {} : { prefix })
}

function wrong(message: string): LeaseConfigurationError {
  return new LeaseConfigurationError(`@leasehold/fastify: ${message}`)
}
