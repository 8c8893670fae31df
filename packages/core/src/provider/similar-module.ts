import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suggestionFor } from '../errors/suggestion.js'

const SCOPE = '@leasehold'

/** An installed package that the writer of `specifier` may have meant: a similar name, or our own package `local`. */
export function similarPackage(specifier: string): string | undefined {
  const [scope = ''] = /^@[^/]+(?=\/)/.exec(specifier) ?? []
  const folders = foldersUpwards(process.cwd()).map((folder) => join(folder, 'node_modules'))
  const namesIn = (scope: string): string[] =>
    folders.flatMap((folder) =>
      entriesOf(join(folder, scope)).map((name) => (scope === '' ? name : `${scope}/${name}`)),
    )
  const own = namesIn(SCOPE)
  // `local`: whatever else is installed, our own package of that name is meant.
  const scoped = `${SCOPE}/${specifier}`
  if (own.includes(scoped)) return scoped
  const similar = suggestionFor(specifier, [...own, ...(scope === SCOPE ? [] : namesIn(scope))])
  if (similar !== undefined) return similar === specifier ? undefined : similar
  return specifier.includes('/') ? undefined : suggestionFor(scoped, own)
}

/** The path of a file in the same folder whose name is similar to that of a file that does not exist. */
export function similarFile(location: string): string | undefined {
  const path = fileURLToPath(location)
  const folder = dirname(path)
  const files = entriesOf(folder).map((name) => join(folder, name))
  return files.includes(path) ? undefined : suggestionFor(path, files)
}

function foldersUpwards(folder: string): readonly string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...foldersUpwards(parent)]
}

function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
