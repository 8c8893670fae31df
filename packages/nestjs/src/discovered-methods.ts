import { LeaseConfigurationError } from '@leasehold/core'
import { reasonOf } from '@leasehold/core/internal'
import { type DiscoveryService, type MetadataScanner, Reflector } from '@nestjs/core'

/** A method of a provider or a controller of the application. */
export interface DiscoveredMethod {
  /** Its class and its name, such as `Reports.sendAll`; `undefined` if its class has no name. */
  readonly name: string | undefined
  /** The same for people. */
  readonly place: string
  readonly method: (...args: readonly unknown[]) => unknown
  /** The object that it is called on. */
  readonly instance: object
  /** Whether Nest makes one instance only, and not one for each request. */
  readonly isStatic: boolean
}

/**
 * The methods of all controllers and providers, in the order in which `@nestjs/schedule` registers them: that one is needed to
 * tell which of its jobs belongs to which object.
 */
export function discoverMethods(discovery: DiscoveryService, scanner: MetadataScanner): DiscoveredMethod[] {
  const seen = new Set<unknown>()
  return [...discovery.getControllers(), ...discovery.getProviders()].flatMap((wrapper) => {
    const instance: unknown = wrapper.instance
    // An alias (`useExisting`) is the same object once more.
    if (typeof instance !== 'object' || instance === null || seen.has(instance)) return []
    seen.add(instance)
    const prototype: object | null = Object.getPrototypeOf(instance)
    if (prototype === null) return []
    const className = prototype.constructor?.name || undefined
    const isStatic = wrapper.isDependencyTreeStatic()
    return scanner.getAllMethodNames(prototype).flatMap((key): DiscoveredMethod[] => {
      const method: unknown = (instance as Record<string, unknown>)[key]
      if (typeof method !== 'function') return []
      const name = className === undefined ? undefined : `${className}.${key}`
      const place = name ?? `${key} of a class without a name`
      return [{ name, place, method: method as DiscoveredMethod['method'], instance, isStatic }]
    })
  })
}

/** The metadata that a decorator has left at a method; `undefined` if it has none. */
export function metadataOf<T>(key: string | { readonly KEY: string }, { method }: DiscoveredMethod): T | undefined {
  return new Reflector().get<T>(typeof key === 'string' ? key : key.KEY, method)
}

/** The error for a decorator that is used wrongly. It names the class and the method. */
export function faultAt(
  { place }: Pick<DiscoveredMethod, 'place'>,
  decorator: string,
  message: string,
  cause?: unknown,
): LeaseConfigurationError {
  return new LeaseConfigurationError(`${place}: ${decorator}: ${message}`, cause === undefined ? {} : { cause })
}

/** Does something for a decorated method. An error names the class and the method. */
export function at<T>(method: DiscoveredMethod, decorator: string, action: () => T): T {
  try {
    return action()
  } catch (cause) {
    throw faultAt(method, decorator, reasonOf(cause), cause)
  }
}
