import { defaultLogger, type LeaseStore, LeaseUnavailableError, systemClock } from '@leasehold/core'
import { checkFault, faultOfInterval } from '@leasehold/core/internal'
import { AbortableCall, type CasStoreOptions, type StoreCall, type StoreFinding } from '@leasehold/core/store'
import { CasLeaseStore, checkOptionNames, clockErrorOf, systemRandom } from '@leasehold/core/store-kit'
import { ApiClient } from './api/api-client.js'
import { misconfigured } from './failure-of.js'
import { checkNoKubeConfig, type KubernetesLeaseStoreOptions, optionNames } from './kubernetes-options.js'
import { type JvmGroup, jvmLayout } from './layouts/jvm-layout.js'
import type { Layout } from './layouts/layout.js'
import { leaseLayout } from './layouts/lease-layout.js'
import { LeaseAccess } from './lease-access.js'
import { ObjectRegister } from './object-register.js'

const HOUR = 3_600_000

/** The shortest ttl, in milliseconds: durations are recorded in whole seconds. */
const MIN_TTL = 1_000

/** etcd warns if the clocks of two of its servers differ by more than a second. In milliseconds. */
const CLOCK_DIFFERENCE = 5_000

/** The lease whose permissions a probe asks for: that of `leasehold doctor`. */
const PROBED_NAME = 'leasehold-doctor'

/** The default time limit of {@link KubernetesLeaseStore.checkAccess}, in milliseconds. */
const CHECK_TIMEOUT = 5_000

/**
 * Leases in objects of the Kubernetes API. A challenger takes over only after it has itself seen the object unchanged for
 * the recorded duration, or after two times of the API server prove it: that of its answer, and that of the last write. No
 * timestamp of a client is compared with a clock. The fencing token is the resourceVersion of the write that
 * granted the lease, unless it was raised above the versions.
 *
 * `raiseToken` writes the token into an annotation, also of the released object. Later grants count on from it, one by one,
 * until the version has passed it. The raise is lost if the object or the annotation is deleted, and with the next grant or
 * release by a version of this package without this method: the token of a grant is then a version again, which may be
 * smaller. A JVM drops all annotations: the layouts `akka` and `pekko` have no `raiseToken`.
 *
 * `list` yields the leases of the namespace, also those of other programs. It needs the verb `list`. A lease name that is
 * not an RFC 1123 subdomain is in an annotation; an object without it, of an earlier version of this package, is left out.
 */
export class KubernetesLeaseStore extends CasLeaseStore<string> {
  readonly watchGrant?: NonNullable<LeaseStore['watchGrant']>
  readonly #access: LeaseAccess
  readonly #options: KubernetesLeaseStoreOptions

  /** Throws a `LeaseConfigurationError` if an option is invalid. The constructor sends no request. */
  constructor(options: KubernetesLeaseStoreOptions = {}) {
    checkNoKubeConfig('KubernetesLeaseStore', options)
    checkOptionNames('KubernetesLeaseStore', options, optionNames, { store: 'kubernetes' })
    const { clock = systemClock, logger = defaultLogger, random = systemRandom, watch: watches = true } = options
    const { layout, ...limits } = chooseLayout(options)
    const client = new ApiClient(options)
    const access = new LeaseAccess(client, layout.resource)
    const environment = { clock, logger, random }
    const { longest } = limits
    const clockError = clockErrorOf('kubernetes', options.clockDifference ?? CLOCK_DIFFERENCE)
    const register = new ObjectRegister({ client, access, layout, watches, longest, clockError, ...environment })
    // The API server keeps the conditions of all writes.
    super(register, { clock, ...limits, probe: false })
    this.#access = access
    this.#options = options
    if (watches) this.watchGrant = (grant, call) => register.watchGrant(grant, call)
  }

  /** Whether the user has the permissions that leases need. Writes nothing: the trial creation is a dry run. */
  override async probe(call: StoreCall): Promise<readonly StoreFinding[]> {
    return await this.#access.probe(PROBED_NAME, call)
  }

  /**
   * Checks at start-up, instead of at the first failover, whether the lease can be held. Resolves with a sentence for each
   * permission that is missing but not necessary. Rejects with a `LeaseUnauthorisedError` that prints the Role, with a
   * `LeaseConfigurationError` that names the missing namespace or manifest, or with a `LeaseUnavailableError` if there is
   * no answer within `timeout` milliseconds, 5 s unless given.
   */
  async checkAccess(leaseName: string, timeout = CHECK_TIMEOUT): Promise<readonly string[]> {
    const { clock = systemClock } = this.#options
    const call = new AbortableCall(timeout)
    const reason = new LeaseUnavailableError(`no answer within ${timeout} ms`, { store: this.kind, leaseName })
    const cancel = clock.schedule(timeout, () => call.abort(reason))
    try {
      return await this.#access.check(leaseName, call)
    } finally {
      cancel()
    }
  }
}

/** A layout, and the limits of our ttls and of recorded durations that fit it. */
type LayoutChoice = { readonly layout: Layout } & Required<Pick<CasStoreOptions, 'minTtl' | 'maxTtl' | 'longest'>>

/** Throws a `LeaseConfigurationError` that says which setting to change. */
function chooseLayout({ layout: name = 'lease', ...options }: KubernetesLeaseStoreOptions): LayoutChoice {
  const longest = positive('maxTtl', options.maxTtl ?? HOUR)
  if (longest < MIN_TTL) throw misconfigured(`maxTtl must be at least ${MIN_TTL} ms, not ${longest}`)
  switch (name) {
    case 'lease':
      return { layout: leaseLayout, minTtl: MIN_TTL, maxTtl: longest, longest }
    case 'akka':
      return jvmChoice('akka.io', options, longest)
    case 'pekko':
      return jvmChoice('pekko.apache.org', options, longest)
    default:
      throw misconfigured(`layout must be lease, akka or pekko, not '${String(name)}'`)
  }
}

/**
 * A JVM takes over when its wall clock is past `time + timeout − 2 × interval`, for any ttl of ours. Our leases have to end
 * before that, on every clock of the cluster.
 */
function jvmChoice(group: JvmGroup, options: KubernetesLeaseStoreOptions, longest: number): LayoutChoice {
  const timeout = positive('jvmHeartbeatTimeout', options.jvmHeartbeatTimeout ?? 120_000)
  const interval = positive('jvmHeartbeatInterval', options.jvmHeartbeatInterval ?? Math.max(timeout / 10, 5_000))
  const skew = options.maxClockSkew ?? 5_000
  if (!(skew >= 0 && skew < Number.POSITIVE_INFINITY))
    throw misconfigured(`maxClockSkew must be 0 or more ms, not ${skew}`)
  const maxTtl = timeout - 2 * interval - skew
  if (maxTtl < MIN_TTL) {
    throw misconfigured(
      `jvmHeartbeatTimeout (${timeout}) − 2 × jvmHeartbeatInterval (${interval}) − maxClockSkew (${skew}) leaves ${maxTtl} ` +
        `ms for a lease, but the minimum is ${MIN_TTL}. JVMs take over after that time. Raise heartbeat-timeout or lower heartbeat-interval, in the JVMs and here`,
    )
  }
  if (timeout > longest)
    throw misconfigured(`maxTtl (${longest}) must not be less than jvmHeartbeatTimeout (${timeout})`)
  return { layout: jvmLayout(group, timeout), minTtl: MIN_TTL, maxTtl: Math.min(maxTtl, longest), longest }
}

function positive(option: string, value: number): number {
  checkFault(faultOfInterval(option, value), { store: 'kubernetes' })
  return value
}
