import { join, resolve } from 'node:path'
import { Config } from './config.js'
import { ConfigOptionError } from './config-error.js'
import { DocumentReader } from './document-reader.js'
import { environmentOverrides } from './environment-overrides.js'
import { documentFrom } from './from-object.js'
import { fileReader, type IncludedText, probe } from './include-source.js'
import { type ConfigLimits, limitsOf } from './limits.js'
import { findReferenceConfigs } from './reference-configs.js'
import type { Environment } from './resolver.js'

export interface LoadOptions {
  /** The application's configuration; `application.conf`, `.json` and `.properties` in `folder` unless given. */
  readonly file?: string | undefined
  /** Settings from code, above those of the file: plain data, or HOCON. */
  readonly overrides?: object | string | undefined
  /** The environment; `process.env` unless given. */
  readonly env?: Environment | undefined
  /** The application's folder, whose packages bring the defaults; the working directory unless given. */
  readonly folder?: string | undefined
  /** Folders in which `include classpath("…")` looks, before those of the packages. */
  readonly classpath?: readonly string[] | undefined
  readonly limits?: ConfigLimits | undefined
}

/**
 * Loads the configuration of an application, from below: the `reference.conf` of every package that it depends on, its
 * own file, `overrides`, and what the variables `CONFIG_FORCE_…` and `LEASEHOLD_…` say. All are merged, and
 * substitutions then replaced. Throws a `ConfigOptionError` where `file` is given and there is none, and whatever
 * {@link parseHocon} and the first use of a configuration throw.
 */
export function loadConfig(options: LoadOptions = {}): Config {
  const { env = process.env, classpath = [], overrides = {} } = options
  const folder = resolve(options.folder ?? '.')
  const limits = limitsOf(options.limits)
  const references = findReferenceConfigs(folder)
  const readInclude = fileReader([...classpath, ...references.map((reference) => reference.folder)])
  const read = (text: IncludedText) => new DocumentReader({ limits, readInclude }).read(text)
  const documents = [
    ...references.flatMap(({ file }) => readable(file)).map(read),
    ...applicationTexts(folder, options.file).map(read),
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
  throw new ConfigOptionError(`there is no file ${resolve(folder, file)}: correct the path, or leave it out`)
}

function readable(path: string): IncludedText[] {
  try {
    return probe(path)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigOptionError(`${path} cannot be read: ${reason}`, undefined, error)
  }
}
