/** Shows the forms of runs that wait for a person; stands over the page. */
export default function Asks() {
  return null;
}
