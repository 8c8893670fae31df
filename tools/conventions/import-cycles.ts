import { dirname, resolve } from 'node:path'
import ts from 'typescript'

/** The files of one import cycle, in import order. The first file is also the last. */
export type ImportCycle = readonly string[]

/**
 * The import cycles among source files, given as text by path. Unlike biome's `noImportCycles`, this counts type imports.
 * Returns at least one cycle for each group of files that import each other.
 */
export function importCycles(texts: ReadonlyMap<string, string>): ImportCycle[] {
  const cycles: ImportCycle[] = []
  const done = new Set<string>()
  const path: string[] = []
  const visit = (file: string): void => {
    const start = path.indexOf(file)
    if (start >= 0) cycles.push([...path.slice(start), file])
    if (start >= 0 || done.has(file)) return
    path.push(file)
    for (const imported of importedFiles(file, texts)) visit(imported)
    path.pop()
    done.add(file)
  }
  for (const file of texts.keys()) visit(file)
  return cycles
}

/** The files among `texts` that a file imports, also for types only. */
export function importedFiles(file: string, texts: ReadonlyMap<string, string>): string[] {
  return ts
    .preProcessFile(texts.get(file) ?? '', true, true)
    .importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
    .map(({ fileName }) => resolve(dirname(file), fileName.replace(/\.js$/, '.ts')))
    .filter((imported) => texts.has(imported))
}
