import { dirname, join, resolve } from 'node:path'
import { Config } from './config.js'
import { ConfigOptionError } from './config-error.js'
import { DocumentReader } from './document-reader.js'
import { environmentOverrides } from './environment-overrides.js'
import { documentFrom } from './from-object.js'
import { fileReader, type IncludedText, probe } from './include-source.js'
import { type ConfigLimits, limitsOf } from './limits.js'
import { checkOptionNames } from './option-names.js'
import { findReferenceConfigs } from './reference-configs.js'
import type { Environment } from './resolver.js'

export interface LoadOptions {
  /** The application's file. Default: `application.conf`, `.json` and `.properties` in `folder`. */
  readonly file?: string | undefined
  /** Settings from code, as plain data or HOCON. They override the file. */
  readonly overrides?: object | string | undefined
  /** The environment variables. Default: `process.env`. */
  readonly env?: Environment | undefined
  /** The application's folder. Its dependencies provide the defaults. Default: the working directory. */
  readonly folder?: string | undefined
  /** Folders that `include classpath("…")` searches before the folders of the packages. */
  readonly classpath?: readonly string[] | undefined
  readonly limits?: ConfigLimits | undefined
}

/**
 * Loads the configuration of an application from these layers, lowest priority first: the `reference.conf` of its
 * dependencies, its own file, `overrides`, and the variables `CONFIG_FORCE_…` and `LEASEHOLD_…`. Merges all layers and then
 * resolves substitutions. Throws a `ConfigOptionError` if an option is unknown or the given `file` does not exist, and the
 * errors of {@link parseHocon} and {@link Config.resolve}.
 */
export function loadConfig(options: LoadOptions = {}): Config {
  checkOptionNames<LoadOptions>('loadConfig', options, {
    file: true,
    overrides: true,
    env: true,
    folder: true,
    classpath: true,
    limits: true,
  })
  const { env = process.env, classpath = [], overrides = {} } = options
  const folder = resolve(options.folder ?? '.')
  const limits = limitsOf(options.limits)
  const references = findReferenceConfigs(folder)
  const readInclude = fileReader([...classpath, ...references.map((file) => dirname(file))])
  const read = (text: IncludedText) => new DocumentReader(limits, readInclude).read(text)
  const documents = [
    ...[...references.flatMap(readable), ...applicationTexts(folder, options.file)].map(read),
    typeof overrides === 'string'
      ? read({ id: 'overrides', text: overrides, format: 'conf' })
      : documentFrom(overrides, 'overrides', limits),
    environmentOverrides(env),
  ]
  return new Config({ documents, limits, env, path: [] }).resolve()
}

function applicationTexts(folder: string, file: string | undefined): IncludedText[] {
  const texts = readable(resolve(folder, file ?? join(folder, 'application')))
  if (file === undefined || texts.length > 0) return texts
  throw new ConfigOptionError(`the file ${resolve(folder, file)} does not exist: correct the path, or omit it`)
}

function readable(path: string): IncludedText[] {
  try {
    return probe(path)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigOptionError(`${path} cannot be read: ${reason}`, undefined, error)
  }
}
