import ts from 'typescript'
import type { Names } from './names.js'

/** A statement that imports redlock. */
export interface RedlockImport {
  readonly statement: ts.Statement
  /** The names of the class `Redlock`. */
  readonly classes: readonly ts.Identifier[]
  /** The names of other exports: errors, types. */
  readonly others: readonly ts.Identifier[]
}

/** The statements at the top of a file that import redlock, by `import` or by `require`. */
export function redlockImports(file: ts.SourceFile): RedlockImport[] {
  return file.statements.flatMap((statement) => {
    const names = importedNames(statement)
    return names === undefined ? [] : [{ statement, ...names }]
  })
}

/** All that the imports give a name to. */
export function importedSymbols(
  imports: readonly RedlockImport[],
  names: Names,
): { readonly classes: Set<ts.Symbol>; readonly others: Set<ts.Symbol> } {
  const symbolsOf = (identifiers: readonly ts.Identifier[]) =>
    new Set(identifiers.map((name) => names.symbolOf(name)).filter((symbol) => symbol !== undefined))
  return {
    classes: symbolsOf(imports.flatMap(({ classes }) => classes)),
    others: symbolsOf(imports.flatMap(({ others }) => others)),
  }
}

type ImportedNames = Omit<RedlockImport, 'statement'>

function importedNames(statement: ts.Statement): ImportedNames | undefined {
  if (ts.isImportDeclaration(statement)) {
    if (!isRedlock(statement.moduleSpecifier)) return undefined
    const { name, namedBindings } = statement.importClause ?? {}
    const first = name === undefined ? [] : [name]
    if (namedBindings === undefined) return { classes: first, others: [] }
    if (ts.isNamespaceImport(namedBindings)) return { classes: [...first, namedBindings.name], others: [] }
    const parts = divided(
      namedBindings.elements.map(({ propertyName, name }) => ({ from: propertyName ?? name, name })),
    )
    return { classes: [...first, ...parts.classes], others: parts.others }
  }
  if (ts.isImportEqualsDeclaration(statement)) {
    const { moduleReference, name } = statement
    if (!ts.isExternalModuleReference(moduleReference) || !isRedlock(moduleReference.expression)) return undefined
    return { classes: [name], others: [] }
  }
  return ts.isVariableStatement(statement) ? requiredNames(statement) : undefined
}

function requiredNames({ declarationList }: ts.VariableStatement): ImportedNames | undefined {
  const [declaration] = declarationList.declarations
  if (declarationList.declarations.length !== 1 || declaration?.initializer === undefined) return undefined
  if (!/^require\((['"])redlock\1\)(\.default)?$/.test(declaration.initializer.getText())) return undefined
  const { name: bound } = declaration
  if (ts.isIdentifier(bound)) return { classes: [bound], others: [] }
  if (ts.isArrayBindingPattern(bound)) return undefined
  return divided(
    bound.elements.flatMap(({ propertyName, name }) =>
      ts.isIdentifier(name) ? [{ from: propertyName ?? name, name }] : [],
    ),
  )
}

function divided(names: readonly { from: ts.Node; name: ts.Identifier }[]): ImportedNames {
  const isClass = ({ from }: { from: ts.Node }): boolean => from.getText() === 'default'
  return {
    classes: names.filter(isClass).map(({ name }) => name),
    others: names.filter((entry) => !isClass(entry)).map(({ name }) => name),
  }
}

function isRedlock(module: ts.Expression): boolean {
  return ts.isStringLiteral(module) && module.text === 'redlock'
}
