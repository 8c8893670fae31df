import { LeaseConfigurationError } from '@leasehold/core'
import { shownValue } from '@leasehold/core/internal'
import { Inject } from '@nestjs/common'
import { Reflector } from '@nestjs/core'
import { at, type DiscoveredMethod, faultAt, metadataOf } from './discovered-methods.js'
import { withHeld } from './held-parameters.js'
import { type LeaseRunOptions, Leases } from './leases.js'

/** The name of the lease: a text, or a function of the arguments of the method. */
export type LeaseNameSource = string | ((...args: never[]) => string)

interface LeasedMethod {
  readonly name: LeaseNameSource
  readonly options: LeaseRunOptions
}

const leasedMethod = Reflector.createDecorator<LeasedMethod>()

/** The property in which Nest puts the leases of the application, for methods that need them. */
const leasesKey = Symbol('@leasehold/nestjs leases')

/**
 * Runs a method under a lease: two calls with the same name never overlap, on whichever instances, while their leases are
 * valid. The method gets the fencing token by `@LeaseToken()`, and the signal by `@LeaseSignal()`.
 *
 * A call rejects with a `LeaseHeldError` if another one has the lease for longer than `wait`, which is 0 unless given; with a
 * `LeaseLostError` if the lease is lost meanwhile; and as `run` of a lease does otherwise.
 */
export function WithLease(name: LeaseNameSource, options: LeaseRunOptions = {}) {
  return <M extends (...args: never[]) => Promise<unknown>>(
    target: object,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<M>,
  ): void => {
    const method = descriptor.value as unknown as (...args: unknown[]) => Promise<unknown>
    if (!(leasesKey in target)) {
      Inject(Leases)(target, leasesKey)
      Object.defineProperty(target, leasesKey, { value: undefined, writable: true, configurable: true })
    }
    async function leased(this: object, ...args: unknown[]): Promise<unknown> {
      const place = `${this.constructor.name}.${String(key)}`
      const leases = (this as Record<symbol, unknown>)[leasesKey]
      if (!(leases instanceof Leases)) {
        throw new LeaseConfigurationError(
          `${place}: @WithLease needs the leases of the application: let Nest make the object, and import LeaseholdModule`,
        )
      }
      const leaseName: unknown = typeof name === 'function' ? name(...(args as never[])) : name
      if (typeof leaseName !== 'string') {
        throw new LeaseConfigurationError(`${place}: @WithLease: the name must be a text, not ${shownValue(leaseName)}`)
      }
      return await leases.run(leaseName, (held) => method.apply(this, withHeld(method, args, held)), options)
    }
    Object.defineProperty(leased, 'name', { value: String(key), configurable: true })
    // The metadata of other decorators are looked up along the prototypes: routes, guards and schedules are still found.
    Object.setPrototypeOf(leased, method)
    descriptor.value = leased as unknown as M
    leasedMethod({ name, options })(target, key, descriptor as TypedPropertyDescriptor<unknown>)
  }
}

/** Throws a `LeaseConfigurationError` that names the class and the method, if a `@WithLease` among them is invalid. */
export function checkLeasedMethods(methods: readonly DiscoveredMethod[], leases: Leases): void {
  for (const method of methods) {
    const found = metadataOf<LeasedMethod>(leasedMethod, method)
    if (found === undefined) continue
    const { name, options } = found
    if (typeof name !== 'function' && (typeof name !== 'string' || name === '')) {
      throw faultAt(method, '@WithLease', `give a name, or a function that returns one, not ${shownValue(name)}`)
    }
    at(method, '@WithLease', () => leases.checkRun(typeof name === 'string' ? name : 'any', options))
  }
}
