export function ElectionsView() {
  return <p>Elections</p>
}
