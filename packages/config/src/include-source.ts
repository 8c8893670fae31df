import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The formats of a configuration. */
export type ConfigFormat = 'conf' | 'json' | 'properties'

/** The form of an include statement. `heuristic` is a bare string. */
export type IncludeKind = 'heuristic' | 'file' | 'url' | 'classpath'

/** The content of an include statement. */
export interface IncludeRequest {
  readonly kind: IncludeKind
  /** The name as written in the statement. */
  readonly name: string
  /** The `id` of the text that contains the statement. */
  readonly from: string | undefined
}

/** A text to include. */
export interface IncludedText {
  /** A unique name, used in errors. For a file: its path. */
  readonly id: string
  readonly text: string
  readonly format: ConfigFormat
}

/** Reads the texts of an include statement, in merge order (the last wins). Returns an empty array if there are none. */
export type IncludeReader = (request: IncludeRequest) => readonly IncludedText[]

/** In merge order: HOCON wins. */
const formats: readonly ConfigFormat[] = ['properties', 'json', 'conf']

/**
 * Reads includes from files. `file()` and absolute names are paths. Bare names are relative to the including file; if
 * no file is found there, the given folders are searched. `classpath()` searches the given folders. `url()` accepts
 * `file:` URLs only. A name without an extension matches all three formats.
 */
export function fileReader(folders: readonly string[] = []): IncludeReader {
  const inFolders = (name: string): IncludedText[] =>
    folders.flatMap((folder) => probe(join(folder, name.replace(/^\/+/, ''))))
  return ({ kind, name, from = '' }) => {
    if (kind === 'url' || (kind === 'heuristic' && /^[a-z][a-z\d+.-]+:\/\//i.test(name))) return readUrl(name)
    if (kind === 'file') return probe(resolve(name))
    if (kind === 'classpath') return inFolders(name)
    const found = isAbsolute(name) || isAbsolute(from) ? probe(resolve(dirname(from), name)) : []
    return found.length > 0 ? found : inFolders(name)
  }
}

/** Reads a file, or all files that match a name without an extension. */
export function probe(path: string): IncludedText[] {
  const files = formats.some((format) => path.endsWith(`.${format}`))
    ? [path]
    : formats.map((format) => `${path}.${format}`)
  return files.flatMap(read)
}

function readUrl(name: string): IncludedText[] {
  const url = new URL(name)
  if (url.protocol !== 'file:') throw new Error(`only file: URLs can be included, not ${url.protocol}`)
  return read(fileURLToPath(url))
}

/** Returns an empty array if the file does not exist. Throws all other errors. The format is HOCON by default. */
function read(file: string): IncludedText[] {
  const format = formats.find((known) => file.endsWith(`.${known}`)) ?? 'conf'
  try {
    return [{ id: file, text: readFileSync(file, 'utf8'), format }]
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return []
    throw error
  }
}
