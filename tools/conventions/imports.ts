import { readFileSync } from 'node:fs'
import ts from 'typescript'

/** The packages that a source file imports, types included, without the modules of Node. */
export function importedPackages(file: string): string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'), true, true)
  return importedFiles
    .map(({ fileName }) => fileName)
    .filter(isPackage)
    .map(packageName)
}

function isPackage(specifier: string): boolean {
  return !specifier.startsWith('.') && !specifier.startsWith('node:')
}

/** A specifier without the path inside the package: `@a/b/c` is of `@a/b`. */
function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
