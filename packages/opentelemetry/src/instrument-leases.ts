import { type Clock, LeaseConfigurationError, systemClock } from '@leasehold/core'
import { checkFault, faultOfFlag, faultOfFunction, isCount, shownValue } from '@leasehold/core/internal'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store-kit'
import { type MeterProvider, ProxyTracerProvider, type TracerProvider, trace } from '@opentelemetry/api'
import { CurrentInstruments, SCOPE } from './current-instruments.js'
import { GroupNames } from './group-names.js'
import { LeaseMetrics } from './lease-metrics.js'
import { AllLeaseSeries } from './lease-series.js'
import { LeaseSpans } from './lease-spans.js'
import { RecipeMetrics } from './recipe-metrics.js'
import { guard, Subscriptions } from './subscriptions.js'
import { TermLinks } from './term-links.js'

export interface InstrumentLeasesOptions {
  /** Where the metrics go; the global one unless given, also if it is registered later. */
  readonly meterProvider?: MeterProvider | undefined
  /** Where the spans go; the global one unless given, also if it is registered later. */
  readonly tracerProvider?: TracerProvider | undefined
  /**
   * The group of a lease, an election, a schedule, a semaphore or a partition group, from its name: the names themselves
   * never become attributes of metrics. Unless given, the digits, UUIDs and hashes in the name become `*`. With `undefined`,
   * or if the function throws, the attribute is left out.
   */
  readonly group?: ((name: string) => string | undefined) | undefined
  /** The largest number of groups; names beyond it get the group `*`. 200 unless given. */
  readonly maxGroups?: number | undefined
  /** Also shows who leads under the name that alerts on client-go know, `leader_election_master_status`. */
  readonly leaderElectionMasterStatus?: boolean | undefined
  /**
   * Links the span of a term to the span of the term before it, also across processes. A holder leaves the context of its span
   * in the metadata of the lease (`traceparent`), with one more write for each grant. `true`: for all leases and elections; a
   * function: for those of these names.
   */
  readonly linkTerms?: boolean | ((leaseName: string) => boolean) | undefined
  /** Measures the durations; that of the system unless given. */
  readonly clock?: Clock | undefined
}

/** The instrumentation of the leases of this process. */
export interface LeaseInstrumentation {
  /** Ends it: nothing is measured any more, and the open spans of terms end. */
  disable(): void
}

const optionNames: OptionNames<InstrumentLeasesOptions> = {
  meterProvider: true,
  tracerProvider: true,
  group: true,
  maxGroups: true,
  leaderElectionMasterStatus: true,
  linkTerms: true,
  clock: true,
}

/**
 * Reports all leases of this process to OpenTelemetry, as metrics and spans, until `disable()`. Call it once. It may be called
 * before the SDK is started. Without an SDK, nothing is recorded. Throws a `LeaseConfigurationError` if an option is invalid.
 */
export function instrumentLeases(options: InstrumentLeasesOptions = {}): LeaseInstrumentation {
  checkOptions(options)
  const { group, maxGroups = 200, linkTerms = false, clock = systemClock, leaderElectionMasterStatus = false } = options
  const groups = new GroupNames(group, maxGroups, guard)
  const asTheyAre = (): GroupNames => new GroupNames((name) => name, maxGroups, guard)

  const current = new CurrentInstruments(options.meterProvider)
  const series = new AllLeaseSeries(groups)
  const leases = new LeaseMetrics(current.get, clock, series, asTheyAre())
  const recipes = new RecipeMetrics(current.get, groups, asTheyAre())
  const { tracerProvider } = options
  const tracer = (tracerProvider ?? trace).getTracer(SCOPE)
  const isTracing = (): boolean => tracerProvider !== undefined || isTracerProviderRegistered()
  const spans = new LeaseSpans(tracer, isTracing, groups, series, new TermLinks(linkTerms))

  const { held, waiting, leastValidity } = leases
  const { leaders, partitions, permits, entities, waitingMessages } = recipes
  const masterStatus = leaderElectionMasterStatus ? recipes.masterStatus : undefined
  const ofRecipes = { leaders, partitions, permits, entities, waitingMessages, masterStatus }
  current.begin({ held, waiting, leastValidity, ...ofRecipes })
  const subscriptions = new Subscriptions()
  for (const part of [leases, recipes, spans]) part.subscribe(subscriptions)
  return {
    disable() {
      subscriptions.end()
      spans.end()
      current.end()
    },
  }
}

/** The delegate of a global provider while there is none. */
const NO_PROVIDER = new ProxyTracerProvider().getDelegate()

function isTracerProviderRegistered(): boolean {
  const provider = trace.getTracerProvider() as Partial<ProxyTracerProvider>
  return provider.getDelegate?.() !== NO_PROVIDER
}

function checkOptions(options: InstrumentLeasesOptions): void {
  checkOptionNames<InstrumentLeasesOptions>('instrumentLeases', options, optionNames)
  const { meterProvider, tracerProvider, group, maxGroups, leaderElectionMasterStatus, linkTerms, clock } = options
  checkMethod('meterProvider', meterProvider, 'getMeter')
  checkMethod('tracerProvider', tracerProvider, 'getTracer')
  checkMethod('clock', clock, 'now')
  checkFault(faultOfFunction('group', group))
  checkFault(faultOfFlag('leaderElectionMasterStatus', leaderElectionMasterStatus))
  if (linkTerms !== undefined && typeof linkTerms !== 'function' && typeof linkTerms !== 'boolean') {
    throw new LeaseConfigurationError(`linkTerms must be true, false or a function, not ${shownValue(linkTerms)}`)
  }
  if (maxGroups === undefined || (isCount(maxGroups) && maxGroups > 0)) return
  throw new LeaseConfigurationError(`maxGroups must be a positive whole number, not ${shownValue(maxGroups)}`)
}

function checkMethod(option: string, value: unknown, method: string): void {
  if (value === undefined || typeof (Object(value) as Record<string, unknown>)[method] === 'function') return
  throw new LeaseConfigurationError(`${option} must have a method '${method}', and ${shownValue(value)} has none`)
}
