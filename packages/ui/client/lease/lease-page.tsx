export function LeasePage({ name }: { readonly name: string }) {
  return <h2>{name}</h2>
}
