import { readFileSync } from 'node:fs'
import ts from 'typescript'

/** The packages that a source file imports, also for types only; without the modules of Node. */
export function importedPackages(file: string): string[] {
  return packagesImportedBy(readFileSync(file, 'utf8'))
}

/** As `importedPackages`, for the text of a source file. */
export function packagesImportedBy(text: string): string[] {
  const { importedFiles } = ts.preProcessFile(text, true, true)
  return importedFiles
    .map(({ fileName }) => fileName)
    .filter(isPackage)
    .map(packageName)
}

function isPackage(specifier: string): boolean {
  return !specifier.startsWith('.') && !specifier.startsWith('node:')
}

/** The package of an import specifier: `@a/b` for `@a/b/c`. */
function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
