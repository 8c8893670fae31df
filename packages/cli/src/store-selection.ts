import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '@leasehold/config'
import { LeaseConfigurationError, LeaseProvider, type Logger } from '@leasehold/core'
import { shownText } from '@leasehold/core/internal'
import type { ConfiguredStore } from '@leasehold/core/store-kit'
import type { OptionValues } from './command-declaration.js'
import type { storeOptions } from './declarations.js'
import { type StoreKind, storeKinds } from './store-kinds.js'
import type { Terminal } from './terminal.js'
import { checkExclusive, didYouMean, UsageError } from './usage-error.js'

/** The options that choose a store. */
export type StoreSelection = Partial<OptionValues<Pick<typeof storeOptions, 'store' | 'config' | 'path'>>>

/** A store, and the settings for leases on it. Its disposal closes its provider. */
export type OpenedStore = ConfiguredStore & AsyncDisposable

/** A configuration that has the block of a store. */
export interface StoreConfig {
  readonly config: object
  readonly path: string
  /** `undefined` for a store of a configuration file. */
  readonly kind: StoreKind | undefined
  /** The same configuration, with the place of each setting: a file and its line, a variable, or for instance `--store`. */
  readonly withOrigins: () => Promise<Config>
}

const LOCAL = '@leasehold/local'

const MODULES = `${sep}node_modules${sep}`

/** The ttl of a store that has a URL, unless something else is given: for how long a killed holder keeps others waiting. */
const TTL = '30s'

/** The block that every lease falls back to. */
export const DEFAULT_PATH = 'leasehold.lease'

/**
 * The chosen store. `name`: as in `LeaseProvider.getStore`. Rejects with a `UsageError` if the options contradict each
 * other or name an unknown kind of store, and as `LeaseProvider.getStore` does.
 */
export async function openStore(selection: StoreSelection, name: string, terminal: Terminal): Promise<OpenedStore> {
  const { config, path, kind } = await configOf(selection, terminal)
  // The local store is part of this package. Core would look for it only beside itself, and in the working directory.
  const factories = kind?.leaseClass === LOCAL ? { [LOCAL]: (await import('@leasehold/local')).localLease } : {}
  const provider = new LeaseProvider(config, factories, { clock: terminal.clock, logger: loggerOf(terminal) })
  try {
    const configured = await provider.getStore(name, path)
    return { ...configured, [Symbol.asyncDispose]: () => provider.close() }
  } catch (error) {
    await provider.close()
    throw isMissingModule(error) && kind !== undefined ? notInstalled(kind, error) : error
  }
}

/** The configuration of `--config`, of `--store`, of `LEASEHOLD_STORE`, or else of the folder of this user. */
export async function configOf({ store, config, path }: StoreSelection, { env }: Terminal): Promise<StoreConfig> {
  checkExclusive({ store, config }, ['store', 'config'])
  if (config !== undefined) {
    const { loadConfig } = await import('@leasehold/config')
    // The defaults of the providers are among the dependencies of the application that has the file.
    const file = resolve(config)
    const loaded = loadConfig({ file, folder: dirname(file), env })
    return { config: loaded, path: path ?? DEFAULT_PATH, kind: undefined, withOrigins: async () => loaded }
  }
  if (path !== undefined) throw new UsageError('--path names a block of a configuration file: add --config FILE')
  const [url, source] = urlOf(store, env)
  const kind = kindOf(url)
  const layers = layersOf(kind, url, source, env)
  const { variables } = layers
  const withOrigins = (): Promise<Config> => mergedWithOrigins(layers)
  // Without variables, the package of configurations need not be loaded.
  if (Object.keys(variables).length > 0) return { config: await withOrigins(), path: DEFAULT_PATH, kind, withOrigins }
  const block = { ...layers.defaults, ...layers.given }
  return { config: { leasehold: { lease: block } }, path: DEFAULT_PATH, kind, withOrigins }
}

/** The settings of a store that has a URL, lowest priority first. */
interface Layers {
  readonly defaults: Readonly<Record<string, unknown>>
  /** Environment variables that set `leasehold.lease`. */
  readonly variables: Terminal['env']
  readonly given: Readonly<Record<string, unknown>>
  /** Where `given` was given. */
  readonly source: string
}

function layersOf(kind: StoreKind, url: string, source: string, env: Terminal['env']): Layers {
  const folder = kind.schemes[0] === 'local' ? { folder: userFolder(env) } : {}
  const block = { 'lease-class': kind.leaseClass, ...kind.settings(url) }
  const usual = { 'heartbeat-timeout': TTL, ...folder }
  const isVariable = (name: string): boolean => /^(LEASEHOLD_LEASE_|CONFIG_FORCE_leasehold_lease_)/.test(name)
  const variables = Object.fromEntries(Object.entries(env).filter(([name]) => isVariable(name)))
  // Variables override the default store, which is used only because no store was named.
  if (source === 'default') return { defaults: { ...usual, ...block }, variables, given: {}, source }
  return { defaults: usual, variables, given: block, source }
}

async function mergedWithOrigins({ defaults, variables, given, source }: Layers): Promise<Config> {
  const { Config } = await import('@leasehold/config')
  const named = (block: object, origin: string) => Config.from({ leasehold: { lease: block } }, { source: origin })
  const fallback = Config.fromEnvironment(variables).withFallback(named(defaults, 'default'))
  return named(given, source).withFallback(fallback).resolve()
}

/** The URL of the store, and where it was given. */
function urlOf(store: string | undefined, { LEASEHOLD_STORE = '' }: Terminal['env']): readonly [string, string] {
  if (store !== undefined) return [store, '--store']
  return LEASEHOLD_STORE === '' ? ['local:', 'default'] : [LEASEHOLD_STORE, 'LEASEHOLD_STORE']
}

function kindOf(url: string): StoreKind {
  const [scheme = ''] = url.split(':')
  const found = storeKinds.find(({ schemes }) => schemes.includes(scheme))
  // A bare word, such as `local`, is a kind of store too.
  if (found !== undefined) return found
  const schemes = storeKinds.flatMap((kind) => kind.schemes)
  const help = didYouMean(scheme, schemes, `the stores are ${schemes.join(', ')}`, (meant) => `${meant}:`)
  // The URL may have a password in it.
  throw new UsageError(`there is no store '${scheme.slice(0, 20)}': ${help}`)
}

/** The folder of the leases of this user: it is kept when the machine starts again, as their fencing tokens are. */
export function userFolder(env: Terminal['env']): string {
  if (process.platform === 'win32') {
    return join(env.LOCALAPPDATA || join(homedir(), 'AppData', 'Local'), 'leasehold', 'leases')
  }
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'leasehold', 'leases')
  return join(env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local', 'state'), 'leasehold', 'leases')
}

/** Writes warnings and errors of the library, each on a line of its own: the message of an error follows, without its stack. */
export function loggerOf(terminal: Pick<Terminal, 'errors'>): Logger {
  return loggerWith((line) => void terminal.errors.write(`leasehold: ${shownText(line)}\n`))
}

/** The same, with the lines written by `say`. */
export function loggerWith(say: (line: string, level: 'warning' | 'error') => void): Logger {
  const write = (level: 'warning' | 'error') => (message: string, failure?: unknown) => {
    const reason = failure instanceof Error && !message.includes(failure.message) ? `: ${failure.message}` : ''
    say(`${level}: ${message}${reason}`, level)
  }
  return { debug: () => {}, info: () => {}, warn: write('warning'), error: write('error') }
}

function isMissingModule(error: unknown): boolean {
  const { cause } = Object(error) as { readonly cause?: unknown }
  return error instanceof LeaseConfigurationError && Object(cause).code === 'ERR_MODULE_NOT_FOUND'
}

function notInstalled({ schemes, install }: StoreKind, cause: unknown): LeaseConfigurationError {
  return new LeaseConfigurationError(
    `the store ${schemes[0]}: needs a package that is not installed: ${installCommand(install)}`,
    { store: schemes[0], cause },
  )
}

/** The command that adds packages to the place where this program is installed. `program`: a file of this program. */
export function installCommand(packages: readonly string[], program: string = fileURLToPath(import.meta.url)): string {
  const names = packages.join(' ')
  const end = program.lastIndexOf(MODULES)
  if (end < 0) return `npm install ${names}`
  if (program.includes(`${sep}_npx${sep}`)) {
    return `npx ${['@leasehold/cli', ...packages].map((name) => `-p ${name}`).join(' ')} leasehold …`
  }
  // A project has a package.json beside its node_modules; the place of global packages has none.
  const isGlobal = !existsSync(join(program.slice(0, end), 'package.json'))
  return `npm install ${isGlobal ? '--global ' : ''}${names}`
}
