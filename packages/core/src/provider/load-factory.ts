import { dirname, isAbsolute, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { reasonOf, shownValue } from '../errors/shown-value.js'
import { suggestionFor } from '../errors/suggestion.js'
import { isLease } from '../lease/is-lease.js'
import { Lease } from '../lease/lease.js'
import type { LeaseFactory } from '../lease/lease-factory.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import { StoreLease } from '../store-lease/store-lease.js'
import { importFound, isMissing } from '../user-code/load-package.js'
import { similarFile, similarPackage } from './similar-module.js'

/** Where a `lease-class` stands. */
export interface LeaseClassContext {
  /** The config path of the block. */
  readonly path: string
  /** The file that it was read from; relative paths are relative to it, else to the working directory. */
  readonly file: string | undefined
  readonly factories: Readonly<Record<string, LeaseFactory>>
}

/**
 * The factory that a `lease-class` names, or is: a function, a name among the factories given, or a module (`package`,
 * `./path.js`, `module#export`) that exports one, or a subclass of `Lease`. Rejects with a `LeaseConfigurationError`
 * that says what to do.
 */
export async function loadFactory(leaseClass: unknown, context: LeaseClassContext): Promise<LeaseFactory> {
  const { path, factories } = context
  if (typeof leaseClass === 'function') return factoryOf(leaseClass, `the lease-class of '${path}'`)
  if (typeof leaseClass === 'object' && leaseClass !== null) {
    throw new LeaseConfigurationError(
      `the lease-class of '${path}' is ${shownValue(leaseClass)}: set it to a text that names a package, a file or a ` +
        'factory, or in code to a function (settings, context) => Lease',
    )
  }
  if (typeof leaseClass !== 'string' || leaseClass === '') {
    const given = Object.keys(factories).map((name) => `'${name}'`)
    throw new LeaseConfigurationError(
      `'${path}' names no lease-class: set it to a provider's package such as "@leasehold/local"` +
        (given.length === 0 ? '' : `, or to one of the factories given (${given.join(', ')})`),
    )
  }
  const given = Object.hasOwn(factories, leaseClass) ? factories[leaseClass] : undefined
  if (given !== undefined) return factoryOf(given, `the factory given as '${leaseClass}'`)
  const [specifier = '', name, ...more] = leaseClass.split('#')
  if (specifier === '')
    throw new LeaseConfigurationError(`'${leaseClass}', the lease-class of '${path}', has no module before the '#'`)
  if (more.length > 0) {
    throw new LeaseConfigurationError(
      `'${leaseClass}', the lease-class of '${path}', has more than one '#': write the module, '#' and one export`,
    )
  }
  const exported = await importModule(specifier, context)
  return factoryOf(name === undefined ? pick(exported, specifier) : named(exported, specifier, name), `'${leaseClass}'`)
}

function named(exported: Record<string, unknown>, specifier: string, name: string): unknown {
  if (Object.hasOwn(exported, name)) return exported[name]
  const names = Object.keys(exported).join(', ') || 'nothing'
  const meant = suggestionFor(name, Object.keys(exported))
  throw new LeaseConfigurationError(
    `the module '${specifier}' does not export '${name}'; it exports ${names}` +
      (meant === undefined ? '' : `. Did you mean '${specifier}#${meant}'?`),
  )
}

/** The one export that is a factory by its name, as every provider has one: `localLease`, `redisLease`. */
function pick(exported: Record<string, unknown>, specifier: string): unknown {
  const candidates = Object.keys(exported).filter(
    (name) =>
      (/^(?!create)[a-z]\w*Lease$/.test(name) && typeof exported[name] === 'function') || isLeaseClass(exported[name]),
  )
  const [only] = candidates
  if (candidates.length === 1 && only !== undefined) return exported[only]
  if (candidates.length === 0 && typeof exported.default === 'function') return exported.default
  throw new LeaseConfigurationError(
    candidates.length === 0
      ? `the module '${specifier}' exports no factory (a function named like localLease) and no subclass of Lease: name the export, as in "${specifier}#name"`
      : `the module '${specifier}' exports ${candidates.join(', ')}: say which one, as in "${specifier}#${only}"`,
  )
}

function factoryOf(value: unknown, what: string): LeaseFactory {
  if (value === Lease) {
    throw new LeaseConfigurationError(
      `${what} is the abstract class Lease itself: expected a subclass of it with acquire, release and checkLease`,
    )
  }
  if (value === StoreLease) {
    throw new LeaseConfigurationError(
      `${what} is the class StoreLease itself, which needs a store: expected a function that gives it one, as in ` +
        '(settings, context) => new StoreLease(settings, store, context)',
    )
  }
  if (isLeaseClass(value)) return (settings) => new value(settings)
  if (typeof value === 'function' && !isClass(value)) return value as LeaseFactory
  throw new LeaseConfigurationError(
    `${what} is ${isClass(value) ? 'a class that does not extend Lease' : 'no function'}, and no factory: expected ` +
      'a function (settings, context) => Lease, or a subclass of Lease',
  )
}

/** Whether a value is a subclass of `Lease`, also of another copy of this package: its instances are checked when made. */
function isLeaseClass(value: unknown): value is new (settings: LeaseSettings) => Lease {
  if (typeof value !== 'function') return false
  const prototype: unknown = value.prototype
  return prototype instanceof Lease || isLease(prototype)
}

function isClass(value: unknown): boolean {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value))
}

async function importModule(specifier: string, context: LeaseClassContext): Promise<Record<string, unknown>> {
  const location = locationOf(specifier, context.file)
  try {
    return await importFound(location, specifier)
  } catch (error) {
    throw new LeaseConfigurationError(explain(error, specifier, location, context), { cause: error })
  }
}

function locationOf(specifier: string, file: string | undefined): string {
  if (isAbsolute(specifier)) return pathToFileURL(specifier).href
  if (!/^\.\.?[/\\]/.test(specifier)) return specifier
  const folder = file !== undefined && isAbsolute(file) ? dirname(file) : process.cwd()
  return pathToFileURL(resolve(folder, specifier)).href
}

function explain(error: unknown, specifier: string, location: string, { path, factories }: LeaseClassContext): string {
  const reason = reasonOf(error)
  if (location.startsWith('file:')) {
    const similar = similarFile(location)
    const meant = similar === undefined ? '' : `. Did you mean '${similar}'?`
    return `the lease-class of '${path}', ${location}, cannot be loaded: ${reason}${meant}`
  }
  if (!isMissing(error, specifier)) return `the package '${specifier}', the lease-class of '${path}', failed: ${reason}`
  const given = Object.keys(factories)
  const meant = suggestionFor(specifier, given) ?? similarPackage(specifier)
  const absent = `the package '${specifier}', the lease-class of '${path}', is not installed: `
  if (meant !== undefined) return `${absent}did you mean '${meant}'?`
  const others = given.length === 0 ? '' : `; or name one of the factories given (${given.join(', ')})`
  // The specifier may name a part of the package.
  const [name] = /^(?:@[^/]+\/)?[^/]+/.exec(specifier) ?? [specifier]
  return `the package '${name}', the lease-class of '${path}', is not installed: npm install ${name}${others}`
}
