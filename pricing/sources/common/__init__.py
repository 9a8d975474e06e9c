"""What several sources share: HTTP, endpoints with settings, amounts of money, and reading rows one by one."""
