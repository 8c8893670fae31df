import { environmentOf, type LeaseEnvironment } from '../lease/lease-environment.js'
import type { LeaseFactory, LeaseFactoryContext } from '../lease/lease-factory.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import type { LeaseStore } from '../store/lease-store.js'
import type { OptionDeclarations, OptionsOf, ProviderOptions } from '../store-kit/provider-options.js'
import { StoreLease } from '../store-lease/store-lease.js'
import type { Clock } from '../time/clock.js'
import { systemClock } from '../time/system-clock.js'
import type { Logger } from '../user-code/logger.js'

/** The facts that a provider gets when it has to open a store. */
export interface OpenContext {
  /** The name of the first lease that needs the store. */
  readonly leaseName: string
  readonly configPath: string
  /** The clock of a test; `undefined` for the machine's. */
  readonly clock: Clock | undefined
  /** The random numbers of a test; `undefined` for `Math.random`. */
  readonly random: (() => number) | undefined
  readonly logger: Logger
}

/** A factory that carries the options that it reads. */
export type ProviderFactory = LeaseFactory & { readonly options: ProviderOptions }

/**
 * The factory of a provider's leases, which `lease-class` names: leases of one `LeaseProvider` with the same options share
 * their store. `open` is called when the first of them is made. The leases are `StoreLease`s unless `create` is given.
 */
export function providerFactory<D extends OptionDeclarations, S extends LeaseStore>(
  options: ProviderOptions<D>,
  open: (values: OptionsOf<D>, context: OpenContext) => S | Promise<S>,
  create: (settings: LeaseSettings, store: S, environment: LeaseEnvironment) => StoreLease = (...lease) =>
    new StoreLease(...lease),
): ProviderFactory {
  const make: LeaseFactory = async (settings, context: LeaseFactoryContext) => {
    const { configPath, clock, logger, random, share } = context
    const values = options.read(settings.options)
    const key = `${options.kind}:${JSON.stringify(options.keys.map((name) => values[name] ?? null))}`
    const testClock = clock === systemClock ? undefined : clock
    const store = await share(key, () =>
      open(values, { leaseName: settings.name, configPath, clock: testClock, logger, random }),
    )
    return create(settings, store, environmentOf(context))
  }
  return Object.assign(make, { optionKeys: options.keys, options: options as unknown as ProviderOptions })
}
