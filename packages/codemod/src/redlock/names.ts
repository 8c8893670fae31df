import ts from 'typescript'

/** Which names in the program mean the same thing, across files. */
export class Names {
  readonly #checker: ts.TypeChecker
  readonly #references = new Map<ts.Symbol, ts.MemberName[]>()

  constructor(program: ts.Program, files: readonly ts.SourceFile[]) {
    this.#checker = program.getTypeChecker()
    for (const file of files) this.#collect(file)
  }

  /** What a name stands for, through imports, exports and `require`. */
  symbolOf(name: ts.Node): ts.Symbol | undefined {
    const { parent } = name
    const symbol =
      parent !== undefined && ts.isShorthandPropertyAssignment(parent)
        ? this.#checker.getShorthandAssignmentValueSymbol(parent)
        : this.#checker.getSymbolAtLocation(name)
    return symbol === undefined ? undefined : this.#origin(symbol)
  }

  /** A parameter property is two things with one declaration: a parameter and a property. */
  declared(declaration: ts.Declaration, name: ts.MemberName): ts.Symbol[] {
    if (ts.isParameter(declaration) && ts.isParameterPropertyDeclaration(declaration, declaration.parent))
      return this.#checker.getSymbolsOfParameterPropertyDeclaration(declaration, name.text)
    const symbol = this.symbolOf(name)
    return symbol === undefined ? [] : [symbol]
  }

  /** What `export default expression` exports. */
  defaultExport(file: ts.SourceFile): ts.Symbol | undefined {
    const module = this.#checker.getSymbolAtLocation(file)
    return module?.exports?.get(ts.InternalSymbolName.Default)
  }

  /** Every place in the files that names it, its declaration included. */
  referencesTo(symbol: ts.Symbol): readonly ts.MemberName[] {
    return this.#references.get(symbol) ?? []
  }

  #collect(node: ts.Node): void {
    if (ts.isMemberName(node)) {
      const symbol = this.symbolOf(node)
      if (symbol !== undefined) {
        const known = this.#references.get(symbol)
        if (known === undefined) this.#references.set(symbol, [node])
        else known.push(node)
      }
    }
    ts.forEachChild(node, (child) => this.#collect(child))
  }

  #origin(symbol: ts.Symbol, depth = 0): ts.Symbol {
    if (depth > 20) return symbol
    if ((symbol.flags & ts.SymbolFlags.Alias) !== 0) {
      const target = this.#checker.getAliasedSymbol(symbol)
      // A module outside of these files: the import itself is all that is known.
      if ((target.declarations ?? []).length === 0) return symbol
      return this.#origin(target, depth + 1)
    }
    const exported = exportedName(symbol.declarations?.[0])
    const local = exported === undefined ? undefined : this.#local(exported)
    return local === undefined ? symbol : this.#origin(local, depth + 1)
  }

  #local(name: ts.Identifier): ts.Symbol | undefined {
    return ts.isShorthandPropertyAssignment(name.parent)
      ? this.#checker.getShorthandAssignmentValueSymbol(name.parent)
      : this.#checker.getSymbolAtLocation(name)
  }
}

/** The local name behind `module.exports = { name }`, `exports.name = name` and `module.exports = name`. */
function exportedName(declaration: ts.Declaration | undefined): ts.Identifier | undefined {
  if (declaration === undefined) return undefined
  if (ts.isShorthandPropertyAssignment(declaration))
    return isExportsObject(declaration.parent) ? declaration.name : undefined
  if (ts.isPropertyAssignment(declaration) && isExportsObject(declaration.parent))
    return ts.isIdentifier(declaration.initializer) ? declaration.initializer : undefined
  const assignment = ts.isBinaryExpression(declaration) ? declaration : declaration.parent
  if (assignment === undefined || !ts.isBinaryExpression(assignment) || !isExportsTarget(assignment.left))
    return undefined
  return ts.isIdentifier(assignment.right) ? assignment.right : undefined
}

function isExportsObject(node: ts.Node): boolean {
  return ts.isBinaryExpression(node.parent) && node.parent.right === node && isExportsTarget(node.parent.left)
}

/** `module.exports`, `exports.name` or `module.exports.name`. */
export function isExportsTarget(node: ts.Node): boolean {
  return /^(module\.exports(\.\w+)?|exports\.\w+)$/.test(node.getText())
}
