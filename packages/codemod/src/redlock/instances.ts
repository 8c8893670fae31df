import ts from 'typescript'
import { Groups } from './groups.js'
import { isExportsTarget, type Names } from './names.js'
import { NotSure } from './not-sure.js'

/** A call of a method of an instance. */
export interface MethodCall {
  readonly method: string
  readonly call: ts.CallExpression
  readonly receiver: ts.Expression
}

/** All code that shares instances of redlock: it is changed together or not at all. */
export interface SharedInstance {
  readonly creations: readonly ts.NewExpression[]
  readonly types: readonly ts.TypeReferenceNode[]
  readonly calls: readonly MethodCall[]
  readonly doubts: readonly NotSure[]
  /** Parameters to which no code in these files gives an instance. */
  readonly open: readonly ts.ParameterDeclaration[]
  readonly names: ReadonlySet<string>
}

/** Something that an instance can be in: a variable, a parameter or a property; or a node, or the container of a framework. */
type Place = ts.Symbol | ts.Node | 'container'

/** Finds the instances of redlock, and follows each to where it is used. */
export class Instances {
  readonly #names: Names
  readonly #groups = new Groups<Place>()
  readonly #places = new Map<ts.Symbol, string>()
  readonly #parameters = new Map<ts.ParameterDeclaration, Place>()
  readonly #given = new Set<ts.Node>()
  readonly #assigned: { target: ts.Expression; value: ts.Expression; place: Place }[] = []
  readonly #creations: { place: Place; node: ts.NewExpression }[] = []
  readonly #types: { place: Place; node: ts.TypeReferenceNode }[] = []
  readonly #calls: { place: Place; call: MethodCall }[] = []
  readonly #doubts: { place: Place; doubt: NotSure }[] = []
  readonly #open: { place: Place; parameter: ts.ParameterDeclaration }[] = []
  /** Uses of the class that are neither `new` nor a type of a value: each concerns all code of its file. */
  readonly strayUses: ts.MemberName[] = []

  constructor(names: Names, classes: ReadonlySet<ts.Symbol>) {
    this.#names = names
    for (const symbol of classes) for (const name of names.referencesTo(symbol)) this.#useOfClass(name)
    this.#settleParameters()
    for (const { target, value, place } of this.#assigned)
      if (!this.#given.has(value)) this.#doubt(place, target, 'another value is assigned here: change it by hand')
  }

  /** The instances, each with all code that shares it. */
  shared(): SharedInstance[] {
    const roots = new Set(
      [...this.#creations, ...this.#types, ...this.#calls].map(({ place }) => this.#groups.groupOf(place)),
    )
    return [...roots].map((root) => {
      const mine = <E extends { place: Place }>(entries: readonly E[]): E[] =>
        entries.filter(({ place }) => this.#groups.groupOf(place) === root)
      return {
        creations: mine(this.#creations).map(({ node }) => node),
        types: mine(this.#types).map(({ node }) => node),
        calls: mine(this.#calls).map(({ call }) => call),
        doubts: mine(this.#doubts).map(({ doubt }) => doubt),
        open: mine(this.#open).map(({ parameter }) => parameter),
        names: new Set(
          [...this.#places].filter(([symbol]) => this.#groups.groupOf(symbol) === root).map(([, name]) => name),
        ),
      }
    })
  }

  #useOfClass(name: ts.MemberName): void {
    const { parent } = name
    if (isImportedName(name)) return
    if (ts.isNewExpression(parent) && parent.expression === name) {
      this.#creations.push({ place: parent, node: parent })
      this.#follow(parent, parent)
    } else if (ts.isTypeReferenceNode(parent) && this.#bindType(parent)) {
      return
    } else this.strayUses.push(name)
  }

  #bindType(type: ts.TypeReferenceNode): boolean {
    const { parent } = type
    const hasValue =
      ts.isParameter(parent) ||
      ts.isPropertyDeclaration(parent) ||
      ts.isPropertySignature(parent) ||
      ts.isVariableDeclaration(parent)
    if (!hasValue || !ts.isMemberName(parent.name)) return false
    this.#types.push({ place: type, node: type })
    this.#bind(parent, parent.name, type)
    return true
  }

  #bind(declaration: ts.Declaration, name: ts.MemberName, place: Place): void {
    const symbols = this.#names.declared(declaration, name)
    for (const symbol of symbols) this.#followSymbol(symbol, name.text, place)
    if (ts.isParameter(declaration)) this.#parameters.set(declaration, place)
  }

  #followName(name: ts.MemberName, place: Place): void {
    const { parent } = name
    // In CommonJS, `exports` stands for what the module exports.
    if (isImportedName(name) || isDeclaredName(name) || /^(module|exports)$/.test(name.text)) return
    const isMember = ts.isPropertyAccessExpression(parent) && parent.name === name
    if (isMember && parent.questionDotToken !== undefined)
      this.#doubt(place, parent, 'the instance can be missing here (`?.`): change the call by hand')
    else this.#follow(isMember ? parent : name, place)
  }

  /** Looks at the code around an expression whose value is an instance. */
  #follow(value: ts.Expression | ts.MemberName, place: Place): void {
    this.#given.add(value)
    const sentence = 'the instance goes where this tool does not follow it: change the code that gets it by hand'
    if (!this.#canFollow(value, place)) this.#doubt(place, value, sentence)
  }

  #canFollow(value: ts.Expression | ts.MemberName, place: Place): boolean {
    const { parent } = value
    if (ts.isParenthesizedExpression(parent)) {
      this.#follow(parent, place)
      return true
    }
    if (ts.isPropertyAccessExpression(parent) && parent.expression === value) {
      this.#followMember(parent, value, place)
      return true
    }
    if (ts.isVariableDeclaration(parent) || ts.isPropertyDeclaration(parent)) {
      if (ts.isMemberName(parent.name)) this.#bind(parent, parent.name, place)
      return ts.isMemberName(parent.name)
    }
    if (ts.isBinaryExpression(parent)) return this.#followAssignment(parent, value, place)
    if (ts.isNewExpression(parent) || ts.isCallExpression(parent)) return this.#followArgument(parent, value, place)
    if (isProvided(value)) {
      this.#groups.join(place, 'container')
      return true
    }
    return this.#followExport(value, place)
  }

  #followMember(access: ts.PropertyAccessExpression, receiver: ts.Expression, place: Place): void {
    const call = access.parent
    if (ts.isCallExpression(call) && call.expression === access && access.questionDotToken === undefined)
      this.#calls.push({ place, call: { method: access.name.text, call, receiver } })
    else this.#doubt(place, access, `a lease store has no ${access.name.text}: change this by hand`)
  }

  #followAssignment(assignment: ts.BinaryExpression, value: ts.Expression, place: Place): boolean {
    if (assignment.operatorToken.kind !== ts.SyntaxKind.EqualsToken) return false
    const { left, right } = assignment
    if (left === value) {
      this.#assigned.push({ target: left, value: right, place })
      return true
    }
    const isExports = isExportsTarget(left)
    if (isExports && ts.isIdentifier(value)) return true
    if (isExports && left.getText() === 'module.exports') return false
    const name = ts.isPropertyAccessExpression(left) ? left.name : left
    return ts.isMemberName(name) && this.#followSymbol(this.#names.symbolOf(name), name.text, place)
  }

  /** An instance that is made where it is exported, or a name that is. */
  #followExport(value: ts.Expression, place: Place): boolean {
    const { parent } = value
    if (ts.isExportAssignment(parent))
      return (
        ts.isIdentifier(value) || this.#followSymbol(this.#names.defaultExport(value.getSourceFile()), 'default', place)
      )
    if (!isInExports(parent)) return false
    if (ts.isIdentifier(value)) return true
    const { name } = parent
    return ts.isIdentifier(name) && this.#followSymbol(this.#names.symbolOf(name), name.text, place)
  }

  #followSymbol(symbol: ts.Symbol | undefined, name: string, place: Place): boolean {
    if (symbol === undefined || (symbol.declarations ?? []).length === 0) return false
    this.#groups.join(symbol, place)
    if (this.#places.has(symbol)) return true
    this.#places.set(symbol, name)
    for (const reference of this.#names.referencesTo(symbol)) this.#followName(reference, symbol)
    return true
  }

  #followArgument(call: ts.NewExpression | ts.CallExpression, value: ts.Expression, place: Place): boolean {
    const index = call.arguments?.indexOf(value) ?? -1
    const parameter = index === -1 ? undefined : this.#parametersOf(call)?.[index]
    if (parameter === undefined || !ts.isIdentifier(parameter.name) || parameter.dotDotDotToken !== undefined)
      return false
    this.#bind(parameter, parameter.name, place)
    return true
  }

  #parametersOf(call: ts.NewExpression | ts.CallExpression): readonly ts.ParameterDeclaration[] | undefined {
    const { expression } = call
    const name = ts.isPropertyAccessExpression(expression) ? expression.name : expression
    const declaration = this.#names.symbolOf(name)?.valueDeclaration
    if (declaration === undefined) return undefined
    if (ts.isClassDeclaration(declaration)) return declaration.members.find(ts.isConstructorDeclaration)?.parameters
    if (ts.isFunctionDeclaration(declaration)) return declaration.parameters
    const { initializer } = ts.isVariableDeclaration(declaration) ? declaration : {}
    if (initializer === undefined) return undefined
    return ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer) ? initializer.parameters : undefined
  }

  /** Every call gives an instance to a parameter that has one: otherwise, another kind of value arrives there too. */
  #settleParameters(): void {
    for (const [parameter, place] of this.#parameters) {
      const callers = this.#callersOf(parameter.parent)
      if (callers.length === 0 && parameter.type !== undefined) {
        this.#groups.join(place, 'container')
        this.#open.push({ place, parameter })
      }
      for (const caller of callers) {
        const value = caller.arguments?.[parameter.parent.parameters.indexOf(parameter)]
        if (value === undefined || !this.#given.has(value))
          this.#doubt(
            place,
            caller,
            'a value that may be no instance of redlock is given here: change the code by hand',
          )
      }
    }
  }

  #callersOf(declared: ts.SignatureDeclaration): (ts.NewExpression | ts.CallExpression)[] {
    const named = ts.isConstructorDeclaration(declared) ? declared.parent : declared
    const holder = ts.isVariableDeclaration(named.parent) ? named.parent : named
    const name = 'name' in holder ? holder.name : undefined
    const symbol = name !== undefined && ts.isIdentifier(name) ? this.#names.symbolOf(name) : undefined
    if (symbol === undefined) return []
    return this.#names.referencesTo(symbol).flatMap((reference) => {
      const { parent } = reference
      const callee = ts.isPropertyAccessExpression(parent) && parent.name === reference ? parent : reference
      const call = callee.parent
      return (ts.isNewExpression(call) || ts.isCallExpression(call)) && call.expression === callee ? [call] : []
    })
  }

  #doubt(place: Place, node: ts.Node, sentence: string): void {
    this.#doubts.push({ place, doubt: new NotSure(node, sentence) })
  }

  /** Whether a name stands for an instance that is followed. */
  isFollowed(name: ts.Node): boolean {
    const symbol = this.#names.symbolOf(name)
    return symbol !== undefined && this.#places.has(symbol)
  }
}

function isImportedName(name: ts.MemberName): boolean {
  const { parent } = name
  if (ts.isBindingElement(parent))
    return /^require\(/.test(parent.parent.parent.getText().split('=').at(-1)?.trim() ?? '')
  return (
    ts.isImportClause(parent) ||
    ts.isImportSpecifier(parent) ||
    ts.isNamespaceImport(parent) ||
    ts.isImportEqualsDeclaration(parent) ||
    ts.isExportSpecifier(parent) ||
    ts.isExportAssignment(parent) ||
    (ts.isVariableDeclaration(parent) && parent.name === name && /^require\(/.test(parent.initializer?.getText() ?? ''))
  )
}

function isDeclaredName(name: ts.MemberName): boolean {
  const { parent } = name
  const isDeclaration =
    (ts.isPropertyAssignment(parent) && isInExports(parent)) ||
    ts.isParameter(parent) ||
    ts.isVariableDeclaration(parent) ||
    ts.isPropertyDeclaration(parent) ||
    ts.isPropertySignature(parent)
  return isDeclaration && parent.name === name
}

/** Whether the value is what a container of a framework provides: `useFactory: () => value` or `useValue: value`. */
function isProvided(value: ts.Expression): boolean {
  for (
    let node: ts.Node = value;
    !ts.isStatement(node.parent) || ts.isReturnStatement(node.parent) || ts.isBlock(node.parent);
  ) {
    node = node.parent
    if (ts.isPropertyAssignment(node)) return /^use(Value|Factory)$/.test(node.name.getText())
    const isOnTheWay =
      ts.isReturnStatement(node) || ts.isBlock(node) || ts.isArrowFunction(node) || ts.isFunctionExpression(node)
    if (!isOnTheWay && !ts.isParenthesizedExpression(node)) return false
  }
  return false
}

/** Whether it is a part of `module.exports = { … }`. */
function isInExports(node: ts.Node): node is ts.ShorthandPropertyAssignment | ts.PropertyAssignment {
  if (!ts.isShorthandPropertyAssignment(node) && !ts.isPropertyAssignment(node)) return false
  const assignment = node.parent.parent
  return ts.isBinaryExpression(assignment) && assignment.right === node.parent && isExportsTarget(assignment.left)
}
